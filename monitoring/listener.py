"""What a client sees of one streamed answer. No network here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, get_args

Reason = Literal["refused", "http", "timeout", "stream", "short"]
REASONS: tuple[Reason, ...] = get_args(Reason)

DONE = "[DONE]"


class ProbeFailed(Exception):
    """The request did not succeed: `reason` for the counter, `detail` for the log."""

    def __init__(self, reason: Reason, detail: str) -> None:
        """Hold both."""
        super().__init__(f"{reason}: {detail}")
        self.reason: Reason = reason


@dataclass(frozen=True)
class Heard:
    """An answer that came to its end; times in seconds since it was sent."""

    text: str
    tokens: int
    ttft: float
    e2el: float

    @property
    def tpot(self) -> float:
        """TPOT = (E2EL - TTFT) / (tokens - 1)."""
        return (self.e2el - self.ttft) / (self.tokens - 1)


class Listener:
    """Takes the events of one stream, and tells what they were together."""

    def __init__(self, sent: float) -> None:
        """Begin at `sent`, on the clock of all other times."""
        self._sent = sent
        self._times: list[float] = []
        self._text, self._tokens, self._done = "", 0, False

    def hear(self, event: str, now: float) -> None:
        """Take one event that arrived at `now`; raises `ProbeFailed` for garbage."""
        if event == DONE:
            self._done = True
            return
        try:
            self._take(json.loads(event), now)
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise ProbeFailed("stream", f"not a chunk: {event[:100]!r}") from error

    def _take(self, chunk: dict[str, Any], now: float) -> None:
        if "error" in chunk:
            raise ProbeFailed("stream", f"error in the stream: {chunk['error']}")
        text = "".join(c["delta"].get("content") or "" for c in chunk["choices"])
        usage = chunk.get("usage") or {}
        told = int(usage.get("completion_tokens", 0))
        # A token may bring no text yet, as half a character does: then usage counts it.
        if chunk["choices"] and (text or told > self._tokens):
            self._times.append(now)
        self._text += text
        self._tokens = max(self._tokens, told)

    def heard(self) -> Heard:
        """Give the whole; raises `ProbeFailed` unless it ended well."""
        if not self._done:
            raise ProbeFailed("stream", f"ended without {DONE}")
        if self._tokens <= 1 or len(self._times) <= 1:
            raise ProbeFailed("short", f"{self._tokens} tokens in {len(self._times)}")
        first, last = self._times[0] - self._sent, self._times[-1] - self._sent
        return Heard(self._text, self._tokens, first, last)
