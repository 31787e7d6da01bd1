"""What came of one request, and the times that are derived from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

# How the tokens of a chunk were counted, best first.
Counted = Literal["token_ids", "usage", "chunks"]


class Arrival(NamedTuple):
    """A chunk that brought `tokens` tokens at `time` (monotonic clock, seconds)."""

    time: float
    tokens: int


@dataclass(frozen=True)
class Outcome:
    """One request; times in seconds of one monotonic clock.

    `None` for a count means that the server did not tell, for `planned_prompt` that only
    the server can count a chat, for `planned_output` that the model decides where to end.
    `error` is empty for a success. `ids` are kept only where a next turn needs them.
    """

    scheduled: float
    sent: float
    arrivals: tuple[Arrival, ...] = ()
    counted: Counted = "chunks"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    finish_reason: str = ""
    error: str = ""
    planned_prompt: int | None = None
    planned_output: int | None = None
    usage_per_chunk: bool = False
    ids: tuple[int, ...] = ()

    @property
    def tokens(self) -> int:
        """Number n of output tokens; the server's own count where it gives one."""
        if self.completion_tokens is not None:
            return self.completion_tokens
        return sum(arrival.tokens for arrival in self.arrivals)

    @property
    def ttft(self) -> float:
        """TTFT = arrival of the first chunk with a token - sent."""
        return self.arrivals[0].time - self.sent

    @property
    def ttft_from_schedule(self) -> float:
        """TTFT plus what the request waited in the client, which a user waits too."""
        return self.arrivals[0].time - self.scheduled

    @property
    def e2el(self) -> float:
        """E2EL = arrival of the last token - sent."""
        return self.arrivals[-1].time - self.sent

    @property
    def tpot(self) -> float | None:
        """TPOT = (E2EL - TTFT) / (n - 1); undefined for one token."""
        return (self.e2el - self.ttft) / (self.tokens - 1) if self.tokens > 1 else None

    @property
    def chunk_gaps(self) -> list[float]:
        """Seconds between one chunk and the next: what vLLM's benchmark calls ITL."""
        pairs = zip(self.arrivals, self.arrivals[1:], strict=False)
        return [after.time - before.time for before, after in pairs]

    @property
    def itl(self) -> list[float]:
        """ITL: a gap before a chunk of k tokens is k entries of gap/k."""
        return [
            gap / arrival.tokens
            for gap, arrival in zip(self.chunk_gaps, self.arrivals[1:], strict=True)
            for _ in range(arrival.tokens)
        ]
