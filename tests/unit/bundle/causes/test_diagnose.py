"""Causes of death, from lines of public reports and of real starts, amid noise."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bundle.causes.diagnose import UNKNOWN, clean, diagnose
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
    found = diagnose(HEALTHY)

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
    ],
)
def test_time_process_and_level_are_taken_off(line: str) -> None:
    assert clean(line) == "ValueError: x"


@given(
    st.sampled_from(LINES),
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


def test_fifty_megabytes_take_less_than_two_seconds() -> None:
    block = (
        HEALTHY + "INFO device visible devices triton SIGTERM emory error: 507033\n" * 9
    )
    text = block * (50_000_000 // len(block.encode())) + dict(LINES)["killed"]
    started = time.process_time()

    found = diagnose(text)

    assert time.process_time() - started < 2
    assert found.id == "killed"


def test_every_cause_has_its_heading_in_the_runbook() -> None:
    text = RUNBOOK.read_text()
    section = text[text.index("# Causes of death") : text.index("# Checks")]
    headings = re.findall(r"^### (\S+)$", section, re.MULTILINE)

    assert headings == [*(cause.id for cause in CAUSES), UNKNOWN]
