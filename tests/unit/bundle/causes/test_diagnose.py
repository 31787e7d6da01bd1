"""Causes of death, from lines of public reports and of real starts, amid noise."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bundle.causes.diagnose import UNKNOWN, diagnose
from bundle.causes.lines import clean, spoken
from bundle.causes.table import CAUSES

if TYPE_CHECKING:
    import random

RUNBOOK = Path(__file__).parents[4] / "docs/runbook.md"
FIXTURES = Path(__file__).parents[3] / "fixtures"
CORE = "(EngineCore_DP0 pid=71) ERROR 12-01 10:38:00 [core.py:1195] "

# Of public reports, and of starts seen here.
ENTRIES = (FIXTURES / "death-lines.tsv").read_text().splitlines()[1:]
LINES = [(entry.split("\t")[0], entry.split("\t")[2]) for entry in ENTRIES]
HEALTHY = (FIXTURES / "healthy-log.txt").read_text()


def says_nothing(text: str) -> bool:
    """Whether no cause is looked for in the text."""
    return not any(mark in text for cause in CAUSES for mark in cause.marks)


@pytest.mark.parametrize(("cause", "line"), LINES)
def test_each_cause_is_told_amid_noise(cause: str, line: str) -> None:
    after = f"{CORE}Traceback (most recent call last):\n{CORE}{line}\n"
    wrapped = "RuntimeError: Engine core initialization failed. See root cause above.\n"

    found = diagnose(f"{HEALTHY}\x1b[31m{after}\x1b[0m好的\n{wrapped}")

    assert found.id == cause
    assert found.evidence == clean(line)


def test_every_cause_has_a_line_here() -> None:
    assert {cause for cause, _ in LINES} == {cause.id for cause in CAUSES}


def test_a_healthy_log_has_no_cause_and_no_exception() -> None:
    found = diagnose(HEALTHY, died=False)

    assert (found.id, found.evidence) == (UNKNOWN, "")


def test_the_first_cause_wins_and_the_other_is_listed() -> None:
    lines = dict(LINES)
    found = diagnose(f"{lines['disk-full']}\n{lines['port-taken']}\n")

    assert found.id == "disk-full"
    assert [other.id for other in found.others] == ["port-taken"]


def test_a_consequence_is_no_cause_where_there_is_another() -> None:
    lines = dict(LINES)
    found = diagnose(f"{lines['no-device-type']}\n{lines['atb-missing']}\n")

    assert found.id == "atb-missing"
    assert [other.id for other in found.others] == ["no-device-type"]


def test_a_consequence_of_an_unknown_cause_is_listed_beside_it() -> None:
    lines = dict(LINES)
    found = diagnose(f"{CORE}KeyError: 151851\n{lines['no-device-type']}\n")

    assert (found.cause, found.evidence) == (None, "KeyError: 151851")
    assert [other.id for other in found.others] == ["no-device-type"]


def test_of_an_unknown_cause_the_first_exception_is_shown() -> None:
    log = f"{HEALTHY}{CORE}KeyError: 151851\n(APIServer pid=18) RuntimeError: see above\n"

    found = diagnose(log)

    assert found.cause is None
    assert found.evidence == "KeyError: 151851"


@pytest.mark.parametrize(
    "line",
    [
        f"{CORE}ValueError: x",
        "[rank0]: ValueError: x",
        "2026-12-01 10:38:00,123 ValueError: x",
        "2026-12-01T10:38:00.123Z (APIServer pid=18) ValueError: x",
        "ERROR: ValueError: x",
        "server-1  | (APIServer pid=18) ValueError: x",
        f"server  | {CORE}ValueError: x",
        "[pod/server-0/server] (APIServer pid=18) ValueError: x",
        "2026-12-01T10:38:00.123456789Z stdout F ValueError: x",
        f"2026-12-01T10:38:00.123456789+08:00 stderr P {CORE}ValueError: x",
        "2026-12-01 10:38:00,123 - vllm.engine - ERROR - ValueError: x",
        "2026-12-01 10:38:00,123 - ERROR - ValueError: x",
        "ERROR:vllm.engine:ValueError: x",
        "Dec 01 10:38:00 host-1 docker[123]: ValueError: x",
        "2026-12-01T10:38:00+0800 host-1 python3[12]: ValueError: x",
        r'{"log":"ValueError: x\n","stream":"stderr","time":"2026-12-01T10:38:00Z"}',
        "  | ValueError: x",
        "Loading: 50%|█████  | 1/2 (EngineCore_DP0 pid=71) ValueError: x",
    ],
)
def test_time_process_and_level_are_taken_off(line: str) -> None:
    assert clean(line) == "ValueError: x"
    assert (
        clean("ValueError: worker (of two) pid=7") == "ValueError: worker (of two) pid=7"
    )


@pytest.mark.parametrize(
    "line",
    [
        "OSError: [Errno 28] No space left on device: '/var/INFO/x'",
        "OSError: [Errno 28] No space left on device: '/var/INFO x WARNING: y'",
        "ERROR log level INFO: [Errno 28] No space left on device",
        f"(APIServer pid=18) INFO 12-01 10:38:00 [x.py:1]{CORE}No space left on device",
    ],
)
def test_a_line_of_level_info_is_left_out_and_no_other(line: str) -> None:
    said = (
        "INFO 12-01 10:38:00 [l.py:1] Received request: prompt: 'Address already in use'"
    )

    assert diagnose(f"{said}\n{line}\n").id == "disk-full"
    assert diagnose(f"{said}\n(APIServer pid=18) {said} pid=7").id == UNKNOWN


BEFORE = (
    "",
    "server-1  | ",
    "server-1  | (EngineCore_DP0 pid=71) ",
    "2026-12-01T10:38:00.123456789Z stdout F ",
    "[pod/server-0/server] ",
    "Dec 01 10:38:00 host docker[12]: ",
    '{"log":"',
)
QUIET = (
    "INFO 12-01 10:38:00 [x.py:1] No space left on device",
    "INFO:     10.0.0.5:53480 - No space left on device",
    "2026-12-01 10:38:00,123 - vllm - DEBUG - No space left on device",
    "I1201 10:38:10.123 71 x.cc:7] No space left on device",
    "WARNING 12-01 10:38:00 [x.py:1] OSError: [Errno 28] No space left on device",
    "WARNING:  No space left on device",
    "[W1201 10:38:10.123 socket.cpp:464] [c10d] Address already in use",
    "[rank0]:[W1201 10:38:10.123 socket.cpp:464] [c10d] Address already in use",
    "/x/y.py:309: UserWarning: No space left on device",
    "ERROR: ld.so: object '/x.so' from LD_PRELOAD cannot be preloaded (no): ignored.",
)


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("line", QUIET)
def test_a_quiet_line_is_no_sign_of_a_death(before: str, line: str) -> None:
    found = diagnose(f"{before}{line}\n", died=False)

    assert (found.id, found.evidence) == (UNKNOWN, "")


@pytest.mark.parametrize("before", BEFORE)
def test_a_death_is_seen_whatever_stands_before_it(before: str) -> None:
    found = diagnose(f"{before}OSError: No space left on device\n", died=False)

    assert (found.id, found.evidence) == ("disk-full", "OSError: No space left on device")


def test_a_warning_is_the_cause_if_nothing_else_is_there() -> None:
    warning = f"{QUIET[4]}\n"
    wrapped = "RuntimeError: Engine core initialization failed. See root cause above.\n"

    assert diagnose(warning).id == "disk-full"
    assert diagnose(warning + wrapped, died=False).id == "disk-full"
    assert diagnose(f"{warning}KeyError: 5\n").evidence == "KeyError: 5"
    assert [other.id for other in diagnose(f"{warning}KeyError: 5").others] == [
        "disk-full"
    ]


def test_a_crash_of_native_code_follows_an_exception() -> None:
    crash = "Fatal Python error: Segmentation fault\n"

    assert diagnose(f"{HEALTHY}{crash}", died=False).id == "native-crash"
    assert diagnose(f"Exception: boom\n{crash}").evidence == "Exception: boom"
    assert diagnose(f"{crash}KeyError: 5\n").id == "native-crash"


def test_what_a_terminal_would_obey_is_shown_escaped() -> None:
    assert clean("ValueError: \x1b]0;t\x07 好") == r"ValueError: \x1b]0;t\x07 好"


@given(
    # A warning is none among others.
    st.sampled_from([one for one in LINES if spoken(one[1])[0]]),
    # Without what a cause says: strings of the code itself are drawn, too.
    st.lists(st.text(st.characters(codec="utf-8")).filter(says_nothing), max_size=20),
    st.randoms(),
)
def test_noise_changes_nothing(
    known: tuple[str, str], noise: list[str], order: random.Random
) -> None:
    lines = [*HEALTHY.splitlines(), *noise, known[1]]
    order.shuffle(lines)

    assert diagnose("\n".join(lines)).id == known[0]


# Each as a crash loop writes them for a night, and none has a cause.
LONG = {
    "requests": HEALTHY
    + "INFO device visible devices triton SIGTERM emory error: 507033\n" * 9,
    "tracebacks": f"{CORE}Traceback (most recent call last):\n"
    + f'{CORE}  File "/x/vllm/v1/engine/core.py", line 1195, in run_engine_core\n' * 30
    + f"{CORE}    raise ValueError(f'unknown device {{device}}, triton: {{error}}')\n",
    "warnings": "(APIServer pid=18) WARNING 12-01 10:38:00 [a.py:1] 显存不足 Error\n",
    "ignored": "(APIServer pid=18) WARNING 12-01 10:38:00 [a.py:1] ValueError: x\n",
    "colours": f"\x1b[31m{CORE}\x1b[0mEngineCore encountered an issue 好的 triton\n",
}


def seconds(log: str) -> float:
    """Give the CPU time that a diagnosis takes."""
    started = time.process_time()
    diagnose(log)
    return time.process_time() - started


@pytest.mark.parametrize("kind", LONG)
def test_fifty_megabytes_take_less_than_two_seconds(kind: str) -> None:
    block = LONG[kind]
    text = block * (50_000_000 // len(block.encode()))

    # The best of three, since others may use the memory bus meanwhile.
    assert any(seconds(text) < 2 for _ in range(3))
    assert diagnose(text, died=False).id == UNKNOWN
    assert diagnose(text + dict(LINES)["killed"]).id == "killed"


def test_four_times_the_log_takes_four_times_as_long_also_as_one_line() -> None:
    said = "ret is -80 code 107001 drv devId is Error "

    assert seconds(said * 400_000) < 6 * seconds(said * 100_000) + 0.1


def test_every_cause_has_its_heading_in_the_runbook() -> None:
    text = RUNBOOK.read_text()
    section = text[text.index("# Causes of death") : text.index("# Checks")]
    headings = re.findall(r"^### (\S+)$", section, re.MULTILINE)

    assert headings == [*(cause.id for cause in CAUSES), UNKNOWN]
