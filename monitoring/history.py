"""The last hour, for the status page; Prometheus keeps its own, and longer."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

HOUR = 3600.0

Verdict = Literal["right", "wrong", "garbled"]


@dataclass(frozen=True)
class Probe:
    """One answered probe: Unix time, seconds, and what was said."""

    time: float
    ttft: float
    tpot: float
    question: str
    text: str
    verdict: Verdict


@dataclass(frozen=True)
class Tokens:
    """How many tokens the engine had generated at a Unix time."""

    time: float
    total: float


_Kept = TypeVar("_Kept", Probe, Tokens)


class LastHour(Generic[_Kept]):
    """Keeps an hour of events in the order in which they came."""

    def __init__(self) -> None:
        """Begin empty."""
        self._events: deque[_Kept] = deque()

    def add(self, event: _Kept) -> None:
        """Take one event, and drop those an hour older."""
        self._events.append(event)
        while self._events[0].time < event.time - HOUR:
            self._events.popleft()

    def since(self, time: float) -> tuple[_Kept, ...]:
        """Give the events from `time` (Unix) on; safe while another thread adds."""
        return tuple(event for event in self._events.copy() if event.time >= time)


@dataclass(frozen=True)
class History:
    """What the prober saw in the last hour."""

    probes: LastHour[Probe]
    tokens: LastHour[Tokens]


def empty() -> History:
    """Give a history without an event."""
    return History(LastHour(), LastHour())
