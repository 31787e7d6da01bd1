"""npu-smi's text of real hosts by equality; damaged, it gives no wrong number."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bundle.npu_smi import Chip, Process, Readings, parse
from tests.fixtures.npu import SAMPLES

TEXTS = {path.name: path.read_text() for path in sorted(SAMPLES.glob("*.txt"))}
MIB = 1 << 20
A3 = "a3-ascend910-25.2.3-16die.txt"


def test_the_a2_with_its_processes() -> None:
    first = Chip(
        npu=0,
        chip=0,
        name="910B2C",
        health="OK",
        bus_id="0000:5A:00.0",
        power_watts=88.6,
        temperature_celsius=51,
        aicore_ratio=0,
        hbm_used_bytes=20701 * MIB,
        hbm_total_bytes=65536 * MIB,
        memory_used_bytes=0,
        memory_total_bytes=0,
        processes=(Process(124528, "python3.8", 17400 * MIB),),
    )
    second = replace(
        first,
        npu=1,
        bus_id="0000:19:00.0",
        power_watts=99.6,
        temperature_celsius=50,
        hbm_used_bytes=20687 * MIB,
        processes=(),
    )

    found = parse(TEXTS["a2-910b2c-23.0.2.1.txt"])

    # It says nothing of NPU 1, whose memory is used all the same.
    assert found == Readings("23.0.2.1", (first, second), silent_npus=(1,))


def test_the_310p_has_no_hbm_and_no_power() -> None:
    chip = Chip(
        npu=6,
        chip=0,
        name="310P3",
        health="OK",
        bus_id="0000:84:00.0",
        temperature_celsius=50,
        aicore_ratio=0,
        memory_used_bytes=1839 * MIB,
        memory_total_bytes=21525 * MIB,
    )

    assert parse(TEXTS["310p3-25.3.rc1-idle.txt"]) == Readings("25.3.rc1", (chip,))


def test_the_ids_of_the_first_910_have_a_gap() -> None:
    found = parse(TEXTS["910a-25.5.2-ddr.txt"])

    assert [chip.npu for chip in found.chips] == [0, 1, 4]
    assert [chip.power_watts for chip in found.chips] == [70.3, 68.9, 72.1]
    assert found.chips[2].memory_total_bytes == 13526 * MIB
    assert {chip.hbm_total_bytes for chip in found.chips} == {32768 * MIB}


def test_the_950_says_util_and_has_no_chip_column() -> None:
    found = parse(TEXTS["950dt-25.6.rc1.txt"])

    assert [(c.npu, c.chip, c.health) for c in found.chips] == [
        (0, 0, "OK"),
        (1, 0, "OK"),
        (7, 0, "Warning"),
    ]
    last = found.chips[-1]
    assert (last.bus_id, last.aicore_ratio, last.power_watts) == (None, 0.42, 397.5)
    assert last.hbm_used_bytes == 91000 * MIB


def test_a_card_of_the_a3_has_two_dies_and_processes_without_names() -> None:
    found = parse(TEXTS[A3])

    assert [(c.npu, c.chip) for c in found.chips] == [
        (npu, die) for npu in range(8) for die in range(2)
    ]
    first, second = found.chips[:2]
    assert (first.power_watts, second.power_watts) == (232.5, None)
    assert (first.aicore_ratio, first.hbm_used_bytes) == (0.17, 53444 * MIB)
    assert [process.pid for process in first.processes] == [
        3325989,
        3330598,
        3328327,
        3333165,
    ]
    assert {process.name for process in first.processes} == {""}


def test_an_error_is_told_and_is_no_card() -> None:
    assert parse(TEXTS["err-8005.txt"]) == Readings(
        problem="it lists no chip; it says: "
        "DrvMngGetConsoleLogLevel failed. (g_conLogLevel=3) / "
        "dcmi module initialize failed. ret is -8005"
    )


def test_a_process_that_cannot_be_read_is_a_problem() -> None:
    text = TEXTS["a2-910b2c-23.0.2.1.txt"].replace("| NPU     Chip ", "| Device  Chip ")

    found = parse(text)

    assert found.problem == "1 blocks could not be read"
    assert [chip.processes for chip in found.chips] == [(), ()]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("python3.8 ", "a | b     "),
        ("python3.8 ", "py\u2028thon"),
        ("python3.8 ", "py\nthon3.8"),
        ("| 0       0  ", "| 9       0  "),
        ("| 124528 ", "| -1     "),
        ("| 124528 ", "| 123456789012 "),
    ],
)
def test_a_process_row_is_read_or_is_a_problem(old: str, new: str) -> None:
    found = parse(TEXTS["a2-910b2c-23.0.2.1.txt"].replace(old, new))

    assert found.problem or found.chips[0].processes[0].pid == 124528


def test_an_npu_without_a_word_of_processes_is_named() -> None:
    assert parse(TEXTS["950dt-25.6.rc1.txt"]).silent_npus == (0, 1, 7)
    assert parse(TEXTS["910a-25.5.2-ddr.txt"]).silent_npus == (1, 4)
    assert parse(TEXTS["310p3-25.3.rc1-idle.txt"]).silent_npus == ()


def test_two_chips_of_one_number_are_a_problem() -> None:
    found = parse(TEXTS["910a-25.5.2-ddr.txt"].replace("| 1     910B", "| 0     910B"))

    assert [chip.npu for chip in found.chips] == [0, 4]
    assert found.problem == "1 blocks could not be read"


def test_what_is_no_table_is_quoted_without_its_rulers() -> None:
    text = TEXTS["910a-25.5.2-ddr.txt"].split("| NPU   Name")[0] + "| x" + " y" * 999

    problem = str(parse(text).problem)

    assert problem.startswith("it lists no chip; it says: npu-smi 25.5.2 ")
    assert len(problem) < 240


@pytest.mark.parametrize("version", ["|", "", "NA", "\u0662"])
def test_a_version_that_is_none_is_not_told(version: str) -> None:
    text = TEXTS["910a-25.5.2-ddr.txt"]

    assert parse(text.replace(" 25.5.2  ", f" {version} ")).driver_version is None


def test_a_header_that_is_not_known_leads_to_no_number() -> None:
    text = TEXTS["a2-910b2c-23.0.2.1.txt"].replace("HBM-Usage(MB)", "HBM-Usage(GB)")

    chip = parse(text).chips[0]

    assert (chip.hbm_used_bytes, chip.hbm_total_bytes) == (None, None)
    assert chip.temperature_celsius == 51


def test_a_column_more_of_the_processes_moves_no_value() -> None:
    text = TEXTS["a2-910b2c-23.0.2.1.txt"]
    text = text.replace("| Process id    |", "| Process id    | User   |")
    text = text.replace("| 124528        |", "| 124528        | root   |")

    (process,) = parse(text).chips[0].processes

    assert process == Process(124528, "python3.8", 17400 * MIB)


@pytest.mark.parametrize("name", TEXTS)
@given(data=st.data())
def test_a_text_that_is_cut_has_only_what_the_whole_one_has(
    name: str, data: st.DataObject
) -> None:
    text = TEXTS[name]

    found = parse(text[: data.draw(st.integers(0, len(text)))])

    assert _told(found) <= _told(parse(text))


@pytest.mark.parametrize("name", TEXTS)
@given(data=st.data())
def test_a_text_without_a_line_has_only_what_the_whole_one_has(
    name: str, data: st.DataObject
) -> None:
    lines = TEXTS[name].splitlines(keepends=True)
    del lines[data.draw(st.integers(0, len(lines) - 1))]

    assert _told(parse("".join(lines))) <= _told(parse(TEXTS[name]))


@pytest.mark.parametrize("name", TEXTS)
@given(data=st.data())
def test_a_field_that_is_replaced_changes_no_other_value(
    name: str, data: st.DataObject
) -> None:
    text = TEXTS[name]
    words = list(re.finditer(r"[^\s|+=]+", text))
    word = words[data.draw(st.integers(0, len(words) - 1))]
    new = data.draw(st.sampled_from(["-", "NA", "x y", "", "?", "N/A"]))

    found = parse(text[: word.start()] + new + text[word.end() :])

    assert _numbers(found) <= _numbers(parse(text))


@pytest.mark.parametrize("name", TEXTS)
@given(data=st.data())
def test_no_field_of_any_text_or_length_is_too_much(
    name: str, data: st.DataObject
) -> None:
    words = list(re.finditer(r"[^\s|+=]+", TEXTS[name]))
    word = words[data.draw(st.integers(0, len(words) - 1))]
    odd = [
        "9" * 5000,
        "9" * 400,
        "1e400",
        "inf",
        "nan",
        "-1",
        "1_0",
        "0x1",
        "\uff19",
        "\u00b2",
    ]
    digits = st.from_regex(r"[0-9]{1,40}(\.[0-9]{1,40})?", fullmatch=True)
    new = data.draw(st.one_of(st.text(), digits, st.sampled_from(odd)))

    found = parse(TEXTS[name][: word.start()] + new + TEXTS[name][word.end() :])

    for chip in found.chips:
        assert 0 <= (chip.power_watts or 0) <= 10_000
        assert 0 <= (chip.temperature_celsius or 0) <= 200
        assert 0 <= (chip.aicore_ratio or 0) <= 1
        assert 0 <= (chip.hbm_used_bytes or 0) <= (chip.hbm_total_bytes or 0) < 1e15
        assert max([chip.npu, *(process.pid for process in chip.processes)]) < 1e8


@given(st.text(st.sampled_from("|+=- \n\t\r\u20280a(")), st.sampled_from(sorted(TEXTS)))
def test_no_text_at_all_is_too_much(text: str, name: str) -> None:
    """Rulers, bars and spaces in any order, alone and in the middle of a table."""
    half = len(TEXTS[name]) // 2

    assert parse(text).chips == ()
    parse(TEXTS[name][:half] + text + TEXTS[name][half:])


def _told(readings: Readings) -> set[tuple[object, ...]]:
    """Give each value with the chip and the field that it belongs to."""
    return {
        (chip.npu, chip.chip, name, value)
        for chip in readings.chips
        for name, value in vars(chip).items()
        if name != "processes" and value is not None
    } | {
        (chip.npu, chip.chip, process.pid, process.memory_bytes)
        for chip in readings.chips
        for process in chip.processes
        if process.memory_bytes is not None
    }


def _numbers(readings: Readings) -> set[tuple[object, ...]]:
    return {told for told in _told(readings) if isinstance(told[-1], (int, float))}
