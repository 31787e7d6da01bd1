"""Find in a log, however noisy, what the engine died of; linear in its length."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bundle.causes.table import CAUSES, Cause

if TYPE_CHECKING:
    from collections.abc import Iterator

UNKNOWN = "unknown"
_LONGEST = 300  # characters of a line that are shown

_COLOUR = re.compile(r"\x1b\[[\d;]*[A-Za-z]")
# "(EngineCore_DP0 pid=71)", "[rank0]:", "ERROR 12-01 10:38:00 [core.py:1195]", a time.
_PREFIX = re.compile(
    r"""^(?:\s*(?:
      \([^()]*\bpid=\d+\)
      | \[rank\d+\]:
      | [A-Z]+[ ]\d\d-\d\d[ ]\d\d:\d\d:\d\d[ ]\[[^\]]*\]
      | \d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]*(?:Z|[+-]\d\d:?\d\d)?
      | \[?(?:ERROR|error)\]?:?
    )\s*)+""",
    re.VERBOSE,
)
_EXCEPTION = re.compile(r"^([A-Za-z_][\w.]*\.)?[A-Z]\w*(Error|Exception|Interrupt)(:|$)")
_REMARK = re.compile(r"\b(?:INFO|WARNING|DEBUG)\b")


@dataclass(frozen=True)
class Diagnosis:
    """The first cause of a log and the line that shows it; other causes beside it.

    Without a cause `evidence` is the first exception of the log, or empty.
    """

    cause: Cause | None
    evidence: str
    others: tuple[Cause, ...] = ()

    @property
    def id(self) -> str:
        """Id of the cause; `unknown` if there is none."""
        return self.cause.id if self.cause else UNKNOWN

    @property
    def what(self) -> str:
        """What happened, in words."""
        return self.cause.what if self.cause else "no known cause is in the log"

    @property
    def remedy(self) -> str:
        """The one thing to do."""
        if self.cause:
            return self.cause.remedy
        return "read the log from its first exception on, and report it"

    @property
    def page(self) -> str:
        """Where to read more."""
        return self.cause.page if self.cause else f"docs/runbook.md#{UNKNOWN}"

    def __str__(self) -> str:
        also = ", ".join(other.id for other in self.others)
        lines = [
            f"error: the engine died: {self.what} ({self.id})",
            f"  line: {self.evidence or '(the log has no exception)'}",
            *([f"  also: {also}"] if also else []),
            f"  fix: {self.remedy}",
            f"  more: {self.page}",
        ]
        return "\n".join(lines)


def diagnose(log: str) -> Diagnosis:
    """Say what the engine died of; the first cause wins, a consequence never does."""
    text = _spoken(_COLOUR.sub("", log) if "\x1b" in log else log)
    found = sorted(_found(text), key=lambda one: (one[0].consequence, one[1]))
    if not found:
        return Diagnosis(None, _first_exception(text))
    cause, position = found[0]
    others = tuple(other for other, _ in found[1:])
    return Diagnosis(cause, clean(text[slice(*_ends(text, position))]), others)


def _spoken(text: str) -> str:
    """Leave out lines of level INFO, which are most of a log, but for one kind."""
    return "\n".join(
        line
        for line in text.splitlines()
        if "INFO" not in line or "KV cache memory: -" in line
    )


def clean(line: str) -> str:
    """Give a line without time, process and level, and not too long."""
    return _PREFIX.sub("", line.strip())[:_LONGEST]


def _found(text: str) -> Iterator[tuple[Cause, int]]:
    """Give each cause with the place of the first line that shows it."""
    for cause in CAUSES:
        places = [_first(text, mark, cause.pattern) for mark in cause.marks]
        if any(place >= 0 for place in places):
            yield cause, min(place for place in places if place >= 0)


def _first(text: str, mark: str, pattern: str) -> int:
    """Give the place of `mark` on the first line that has `pattern`; -1 for none."""
    search = re.compile(pattern).search
    position = text.find(mark)
    while position >= 0:
        start, end = _ends(text, position)
        if search(text, start, end):
            return position
        position = text.find(mark, end)
    return -1


def _ends(text: str, position: int) -> tuple[int, int]:
    """Give where the line of `position` begins and ends."""
    end = text.find("\n", position)
    return text.rfind("\n", 0, position) + 1, end if end >= 0 else len(text)


def _first_exception(text: str) -> str:
    for line in text.splitlines():
        if ("Error" in line or "Exception" in line) and not _REMARK.search(line):
            cleaned = clean(line)
            if _EXCEPTION.match(cleaned):
                return cleaned
    return ""
