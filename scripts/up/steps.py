"""How long each step took."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Steps:
    """Names and seconds of the steps so far, in their order."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with no step."""
        self._clock = clock
        self._seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time the block as the step `name`."""
        started = self._clock()
        yield
        self._seconds[name] = self._clock() - started

    def __str__(self) -> str:
        total = sum(self._seconds.values())
        each = ", ".join(f"{name} {s:.0f} s" for name, s in self._seconds.items())
        return f"{each}; together {total:.0f} s"
