"""The events of one streamed completion, read into an `Outcome`. No network here."""

from __future__ import annotations

import json
from typing import Any

from scripts.benchmark.outcome import Arrival, Counted, Outcome

DONE = "[DONE]"


class Stream:
    """Take events with the time at which they arrived, then ask for the outcome."""

    def __init__(self, output_len: int) -> None:
        """Expect `output_len` tokens."""
        self._output_len = output_len
        self._arrivals: list[Arrival] = []
        self._usage: dict[str, Any] = {}
        self._counted: Counted | None = None
        self._finish_reason = ""
        self._error = ""
        self._done = False

    def add(self, event: str, now: float) -> None:
        """Take one event."""
        if event == DONE:
            self._done = True
            return
        try:
            self._take(json.loads(event), now)
        except (ValueError, TypeError, AttributeError, KeyError):
            self._fail(f"an event is no completion chunk: {event[:100]!r}")

    def _take(self, chunk: dict[str, Any], now: float) -> None:
        if error := chunk.get("error"):
            message = error.get("message") if isinstance(error, dict) else error
            self._fail(f"error in the stream: {message}")
            return
        before = self._usage.get("completion_tokens", 0)
        self._usage = chunk.get("usage") or self._usage
        for choice in chunk.get("choices", ()):
            self._finish_reason = choice.get("finish_reason") or self._finish_reason
            tokens = self._tokens(choice, chunk.get("usage"), before)
            if tokens:
                self._arrivals.append(Arrival(now, tokens))

    def _tokens(
        self, choice: dict[str, Any], usage: dict[str, Any] | None, before: int
    ) -> int:
        """Tokens in a chunk: a server may send several at once, or none.

        The first way that the server offers is kept for the whole stream.
        """
        if (ids := choice.get("token_ids")) is not None:
            self._counted = self._counted or "token_ids"
            return len(ids)
        if usage and self._counted in {None, "usage"}:
            self._counted = "usage"
            return int(usage["completion_tokens"]) - before
        if not choice.get("text"):
            return 0
        self._counted = self._counted or "chunks"
        return 1

    def outcome(self, scheduled: float, sent: float, error: str = "") -> Outcome:
        """Judge the stream, now that it has ended; `error` is how, if not well."""
        details = self._usage.get("prompt_tokens_details") or {}
        return Outcome(
            scheduled,
            sent,
            tuple(self._arrivals),
            self._counted or "chunks",
            self._usage.get("prompt_tokens"),
            self._usage.get("completion_tokens"),
            details.get("cached_tokens"),
            self._finish_reason,
            self._error or error or self._missing(),
        )

    def _missing(self) -> str:
        """What a success needs and this stream lacks; empty if it has all."""
        if not self._arrivals:
            return "the stream brought no token"
        if self._finish_reason not in {"length", "stop"}:
            return f"finish_reason is {self._finish_reason!r}"
        if not self._done:
            return f"the stream ended without {DONE}"
        return self._miscount()

    def _miscount(self) -> str:
        seen = sum(arrival.tokens for arrival in self._arrivals)
        told = self._usage.get("completion_tokens")
        if self._counted == "token_ids" and told is not None and told != seen:
            return f"usage says {told} tokens, the chunks brought {seen}"
        known = told if told is not None else seen
        if known != self._output_len and (told is not None or self._counted != "chunks"):
            return f"asked for {self._output_len} tokens, got {known}"
        return ""

    def _fail(self, error: str) -> None:
        self._error = self._error or error
