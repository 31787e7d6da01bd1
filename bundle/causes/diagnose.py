"""Find in a log, however noisy, what the engine died of; linear in its length."""

from __future__ import annotations

import heapq
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bundle.causes.lines import clean, spoken
from bundle.causes.table import CAUSES, Cause

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

UNKNOWN = "unknown"
_WINDOW = 2000  # characters of a line that are read on either side of a mark

_EXCEPTION = re.compile(
    r"^([A-Za-z_][\w.]*\.)?(?=[A-Z])\w*(Error|Exception|ExceptionGroup)(:|$)"
)
_WRAPPER = re.compile(r"root cause|encountered an issue", re.IGNORECASE)


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


def diagnose(log: str, *, died: bool = True) -> Diagnosis:
    """Say what the engine died of: the first cause that is no consequence.

    A consequence is the cause if nothing else is there, and no exception before it. What
    a warning says is one if there is no exception of its own either; and unless the
    engine `died` for certain, some exception must tell that it did.
    """
    text, warned = spoken(log)
    found = sorted(_found(text), key=lambda one: (one[0].consequence, one[1]))
    warnings = sorted(_found(warned), key=lambda one: one[1])
    causes = tuple(dict.fromkeys(cause for cause, _ in [*found, *warnings]))
    own, wrapper = _exceptions(text)
    if found and (not found[0][0].consequence or not 0 <= own < found[0][1]):
        return Diagnosis(causes[0], _shown(text, found[0][1]), causes[1:])
    if warnings and own < 0 and (died or wrapper >= 0):
        return Diagnosis(causes[0], _shown(warned, warnings[0][1]), causes[1:])
    place = own if own >= 0 else wrapper
    return Diagnosis(None, _shown(text, place) if place >= 0 else "", causes)


def _found(text: str) -> Iterator[tuple[Cause, int]]:
    """Give each cause with the place of the first line that shows it."""
    begins = {mark: text.find(mark) for cause in CAUSES for mark in cause.marks}
    for cause in CAUSES:
        shows = re.compile(cause.pattern).search
        places = [_first(text, mark, begins[mark], shows) for mark in cause.marks]
        if any(place >= 0 for place in places):
            yield cause, min(place for place in places if place >= 0)


def _first(
    text: str, mark: str, position: int, shows: Callable[[str, int, int], object]
) -> int:
    """Give where the first line begins that has `mark` and `shows` it; -1 for none.

    `position` is where the mark stands first.
    """
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


def _exceptions(text: str) -> tuple[int, int]:
    """Give where the first exception begins, and the first that names another's end.

    Either is -1 for none.
    """
    wrapper = -1
    for place in heapq.merge(_places(text, "Error"), _places(text, "Exception")):
        line = clean(text[slice(*_ends(text, place))])
        if _EXCEPTION.match(line):
            if not _WRAPPER.search(line):
                return place, wrapper
            wrapper = place if wrapper < 0 else wrapper
    return -1, wrapper


def _places(text: str, word: str) -> Iterator[int]:
    """Give where each line begins that has `word`."""
    position = text.find(word)
    while position >= 0:
        start, end = _ends(text, position)
        yield start
        position = text.find(word, end)
