"""What a check found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

_LONGEST = 500  # characters of a finding
OK, WARNING, FAILURE, UNKNOWN = "ok", "warning", "failure", "could not tell"


@dataclass(frozen=True)
class Finding:
    """One result: its level, the value found, and the one remedy if it is not ok."""

    level: str
    found: str
    remedy: str = ""


@dataclass(frozen=True)
class Check:
    """A check: its id, a heading of docs/runbook.md, and what does the work.

    `run` gives one finding or more; none where the check does not apply.
    """

    id: str
    run: Callable[[Any], Iterable[Finding]]

    @property
    def page(self) -> str:
        """Where to read more."""
        return f"docs/runbook.md#{self.id}"


def ok(found: str) -> Finding:
    """Give a good result."""
    return Finding(OK, _line(found))


def warning(found: str, remedy: str) -> Finding:
    """Give a result that may spoil something."""
    return Finding(WARNING, _line(found), remedy)


def failure(found: str, remedy: str) -> Finding:
    """Give a result that serving does not survive."""
    return Finding(FAILURE, _line(found), remedy)


def unknown(found: str, remedy: str) -> Finding:
    """Say that it could not be told, which is never good."""
    return Finding(UNKNOWN, _line(found), remedy)


def _line(text: str) -> str:
    """Make one short line of what a host said, which may be a book or move a cursor."""
    line = "".join(char if char.isprintable() else " " for char in text)
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} …"
