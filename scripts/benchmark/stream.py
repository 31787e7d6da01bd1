"""The events of one streamed completion, read into an `Outcome`. No network here."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from scripts.benchmark.outcome import Arrival, Counted, Outcome
from scripts.benchmark.usage import Usage

if TYPE_CHECKING:
    from scripts.benchmark.request import Ask

DONE = b"[DONE]"

# Of a chunk in the middle of a stream only the tokens are to be counted; to read all of
# it as JSON costs ten times as much. Neither text can stand inside a JSON string, where a
# quote has a backslash before it. What does not match is read as JSON.
_UNFINISHED = b'"finish_reason":null'
_TOKEN_IDS = re.compile(rb'"token_ids":\[([\d,]+)\]')


class Stream:
    """Take events with the time at which they arrived, then ask for the outcome."""

    def __init__(self, ask: Ask) -> None:
        """Expect the answer to `ask`.

        `quick` says that its chunks have been of the common form, with token ids.
        """
        self._ask = ask
        self._arrivals: list[Arrival] = []
        self._ids: list[int] = []
        self._usage = Usage()
        self._usage_per_chunk = False
        self._counted: Counted | None = None
        self.quick = False
        self._finish_reason = ""
        self._error = ""
        self._done = False

    def add(self, event: bytes, now: float) -> None:
        """Take one event."""
        if self.quick and _UNFINISHED in event and (found := _TOKEN_IDS.search(event)):
            self._arrivals.append(Arrival(now, found[1].count(b",") + 1))
        elif event == DONE:
            self._done = True
        else:
            self._add_json(event, now)

    def add_quickly(self, events: bytes, now: float) -> bool:
        """Take events that are whole, if each is a chunk in the middle of the stream.

        That is so if there are two ends of lines for each of what such a chunk has once;
        they are cheaper to count than empty lines. Two wrongs that make a right would not
        add up with the usage.
        """
        found = _TOKEN_IDS.findall(events)
        count = len(found)
        lines, unfinished = events.count(b"\n"), events.count(_UNFINISHED)
        if not count or lines != 2 * count or unfinished != count:
            return False
        if b",".join(found).count(b",") < count:  # the usual: no comma but ours
            self._arrivals += [Arrival(now, 1)] * count
        else:
            self._arrivals += [Arrival(now, ids.count(b",") + 1) for ids in found]
        return True

    def _add_json(self, event: bytes, now: float) -> None:
        try:
            self._take(json.loads(event), now)
        except (ValueError, TypeError, AttributeError, RecursionError):
            shown = event[:100].decode("utf-8", "replace")
            self._fail(f"an event is no completion chunk: {shown!r}")

    def _take(self, chunk: dict[str, Any], now: float) -> None:
        if error := chunk.get("error"):
            message = error.get("message") if isinstance(error, dict) else error
            self._fail(f"error in the stream: {message}")
            return
        before = self._usage.completion or 0
        usage = Usage.of(chunk["usage"]) if chunk.get("usage") else None
        self._usage = usage or self._usage
        for choice in chunk.get("choices", ()):
            self._usage_per_chunk |= usage is not None
            self._finish_reason = _reason(choice) or self._finish_reason
            tokens = self._tokens(choice, usage, before)
            if tokens:
                self._arrivals.append(Arrival(now, tokens))

    def _tokens(self, choice: dict[str, Any], usage: Usage | None, before: int) -> int:
        """Tokens in a chunk: a server may send several at once, or none.

        The first way that the server offers is kept for the whole stream.
        """
        if (ids := choice.get("token_ids")) is not None:
            if not isinstance(ids, list):
                raise TypeError("token ids are a list")
            self._counted = self._counted or "token_ids"
            self.quick = self._counted == "token_ids" and not self._ask.keep_ids
            if self._ask.keep_ids:
                self._ids += ids
            return len(ids)
        if usage and self._counted in {None, "usage"}:
            self._counted = "usage"
            return _grown(usage, before)
        if not _has_text(choice):
            return 0
        self._counted = self._counted or "chunks"
        return 1

    def outcome(self, scheduled: float, sent: float, error: str = "") -> Outcome:
        """Judge the stream, now that it has ended; `error` is how, if not well."""
        return Outcome(
            scheduled,
            sent,
            tuple(self._arrivals),
            self._counted or "chunks",
            self._usage.prompt,
            self._usage.completion,
            self._usage.cached,
            self._finish_reason,
            self._error or error or self._missing(),
            None if self._ask.chat else len(self._ask.prompt),
            self._ask.output_len if self._ask.exact else None,
            self._usage_per_chunk,
            tuple(self._ids),
        )

    def _missing(self) -> str:
        """What a success needs and this stream lacks; empty if it has all."""
        if not self._arrivals:
            return "the stream brought no token"
        if self._finish_reason not in {"length", "stop"}:
            return f"finish_reason is {self._finish_reason!r}"
        if not self._done:
            return f"the stream ended without {DONE.decode()}"
        return self._miscount()

    def _miscount(self) -> str:
        seen = sum(arrival.tokens for arrival in self._arrivals)
        told = self._usage.completion
        if self._counted == "token_ids" and told is not None and told != seen:
            return f"usage says {told} tokens, the chunks brought {seen}"
        known = told if told is not None else seen
        if not known:
            return "usage says 0 tokens, though the chunks brought text"
        sure = told is not None or self._counted != "chunks"
        if self._ask.exact and sure and known != self._ask.output_len:
            return f"asked for {self._ask.output_len} tokens, got {known}"
        if known > self._ask.output_len:
            return f"asked for at most {self._ask.output_len} tokens, got {known}"
        return ""

    def _fail(self, error: str) -> None:
        self._error = self._error or error


def _reason(choice: dict[str, Any]) -> str:
    reason = choice.get("finish_reason") or ""
    if not isinstance(reason, str):
        raise TypeError("a finish reason is a word")
    return reason


def _grown(usage: Usage, before: int) -> int:
    """Tokens since the chunk that told `before`."""
    if usage.completion is None or usage.completion < before:
        raise ValueError("a count of tokens that does not grow")
    return usage.completion - before


def _has_text(choice: dict[str, Any]) -> bool:
    """Whether a chunk of a completion or a chat says anything; a bare role does not."""
    told = {**choice, **(choice.get("delta") or {})}
    return any(told.get(key) for key in ("text", "content", "reasoning", "tool_calls"))
