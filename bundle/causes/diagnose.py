"""Find in a log, however noisy, what the engine died of; linear in its length."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bundle.causes.lines import clean, spoken
from bundle.causes.table import CAUSES, Cause

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

UNKNOWN = "unknown"
_WINDOW = 2000  # characters of a line that are read on either side of a mark

_EXCEPTION = re.compile(r"^([A-Za-z_][\w.]*\.)?[A-Z]\w*(Error|Exception)(:|$)")
_REMARK = re.compile(r"\b(?:INFO|DEBUG)\b")


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
    """Say what the engine died of: the first cause that is no consequence.

    A consequence is the cause if nothing else is there, and no exception before it.
    """
    text = spoken(log)
    found = sorted(_found(text), key=lambda one: (one[0].consequence, one[1]))
    others = tuple(cause for cause, _ in found[1:])
    if found and not found[0][0].consequence:
        return Diagnosis(found[0][0], _shown(text, found[0][1]), others)
    place = _first_exception(text)
    if found and not 0 <= place < found[0][1]:
        return Diagnosis(found[0][0], _shown(text, found[0][1]), others)
    evidence = _shown(text, place) if place >= 0 else ""
    return Diagnosis(None, evidence, tuple(cause for cause, _ in found))


def _found(text: str) -> Iterator[tuple[Cause, int]]:
    """Give each cause with the place of the first line that shows it."""
    for cause in CAUSES:
        shows = re.compile(cause.pattern).search
        places = [_first(text, mark, shows) for mark in cause.marks]
        if any(place >= 0 for place in places):
            yield cause, min(place for place in places if place >= 0)


def _first(text: str, mark: str, shows: Callable[[str, int, int], object]) -> int:
    """Give where the first line begins that has `mark` and `shows` it; -1 for none."""
    position = text.find(mark)
    while position >= 0:
        start, end = _ends(text, position)
        if shows(text, max(start, position - _WINDOW), min(end, position + _WINDOW)):
            return start
        position = text.find(mark, end)
    return -1


def _ends(text: str, position: int) -> tuple[int, int]:
    """Give where the line of `position` begins and ends."""
    end = text.find("\n", position)
    return text.rfind("\n", 0, position) + 1, end if end >= 0 else len(text)


def _shown(text: str, place: int) -> str:
    return clean(text[slice(*_ends(text, place))])


def _first_exception(text: str) -> int:
    """Give where the line of the first exception begins; -1 for none."""
    place = 0
    for line in text.split("\n"):
        if ("Error" in line or "Exception" in line) and _is_exception(line):
            return place
        place += len(line) + 1
    return -1


def _is_exception(line: str) -> bool:
    # A warning is asked for first, since a log may have a million.
    if "WARNING" in line or _REMARK.search(line):
        return False
    return bool(_EXCEPTION.match(clean(line)))
