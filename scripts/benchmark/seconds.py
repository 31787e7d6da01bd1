"""What vLLM's benchmark counts by the second, so that its numbers can be compared."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scripts.benchmark.outcome import Outcome


@dataclass(frozen=True)
class Seconds:
    """Most chunks that came, and most requests that were there, in one second.

    Seconds are counted from the first send of a successful request. vLLM 0.23 calls the
    chunks tokens (vllm-project/vllm#37666), and counts a request in each second that it
    touches, which is more than are there at once.
    """

    chunks: int
    requests: int

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> Seconds:
        """Count successful requests, as `calculate_metrics` does."""
        start = min(outcome.sent for outcome in outcomes)
        chunks: Counter[int] = Counter()
        requests: Counter[int] = Counter()
        for outcome in outcomes:
            chunks.update(int(arrival.time - start) for arrival in outcome.arrivals)
            last = int(outcome.arrivals[-1].time - start)
            requests.update(range(int(outcome.sent - start), last + 1))
        return cls(max(chunks.values()), max(requests.values()))
