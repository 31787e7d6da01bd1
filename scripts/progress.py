"""Progress of a long step on the terminal, or line by line in a log."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable

_LOG_LINES = 4  # in a log, not every step: at each quarter,
_LOG_SECONDS = 30.0  # and when nothing was said for so long
_WIDTH = 78


def progress(
    label: str, out: TextIO | None = None, clock: Callable[[], float] = time.monotonic
) -> Show:
    """Give a function that shows done, total and seconds left, for `label`."""
    return Show(label, out or sys.stdout, clock)


@dataclass
class Show:
    """Call it with what is done, the total, and a note to show beside."""

    label: str
    out: TextIO
    clock: Callable[[], float]
    started: float = field(init=False)
    said: float = field(init=False)
    quarter: int = 0
    ended: bool = False

    def __post_init__(self) -> None:
        """Begin to count the time."""
        self.started = self.said = self.clock()

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """Show it, if it is time to."""
        now = self.clock()
        line = self._line(done, total, note, now - self.started)
        if self.out.isatty():
            end = "\n" if done == total and not self.ended else ""
            self.out.write(f"\r{line:<{_WIDTH}}{end}")
            self.ended = done == total
        elif self._due(done * _LOG_LINES // max(1, total), now):
            self.out.write(line + "\n")
        self.out.flush()

    def _line(self, done: int, total: int, note: str, elapsed: float) -> str:
        line = f"  {self.label}: {done} of {total}"
        if 0 < done < total:
            line += f", about {elapsed / done * (total - done):.0f} s left"
        return f"{line}, {note}" if note else line

    def _due(self, quarter: int, now: float) -> bool:
        due = quarter > self.quarter or now - self.said >= _LOG_SECONDS
        if due:
            self.quarter, self.said = quarter, now
        return due
