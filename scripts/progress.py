"""Progress of a long step on the terminal, or line by line in a log."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

_LOG_LINES = 4  # in a log, not every step: this many lines and no more


def progress(
    label: str, out: TextIO = sys.stdout, clock: Callable[[], float] = time.monotonic
) -> Callable[[int, int], None]:
    """Give a function that shows done, total and seconds left, for `label`."""
    started = clock()

    def show(done: int, total: int) -> None:
        left = (clock() - started) / done * (total - done) if done else 0.0
        line = f"  {label}: {done} of {total}"
        line += f", about {left:.0f} s left" if done < total else ""
        if out.isatty():
            out.write(f"\r{line:<70}" + ("\n" if done == total else ""))
        elif done == total or done % max(1, -(-total // _LOG_LINES)) == 0:
            out.write(line + "\n")
        out.flush()

    return show
