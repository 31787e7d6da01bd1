"""One streamed request of the probe: what is sent, and what the client sees of it."""

from __future__ import annotations

import json
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import requests
from urllib3.exceptions import HTTPError, ReadTimeoutError

from bundle.sse import SseParser

if TYPE_CHECKING:
    from collections.abc import Callable

    from bundle.api import Server

Reason = Literal["refused", "http", "timeout", "stream", "short"]
REASONS: tuple[Reason, ...] = get_args(Reason)

MIN_TOKENS, MAX_TOKENS = 16, 32  # TPOT needs two; more make it steadier
CONNECT_SECONDS, SILENCE_SECONDS, TOTAL_SECONDS = 3, 30, 60
READ_BYTES = 65536
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


def body(model: str, question: str) -> dict[str, object]:
    """Give the request for `/v1/chat/completions`.

    A fresh `cache_salt` keeps the prefix cache cold without changing the prompt.
    `min_tokens` holds off the end, so that "2." is long enough for a TPOT.
    """
    return {
        "model": model,
        "messages": [{"role": "user", "content": question}],
        "temperature": 0,
        "min_tokens": MIN_TOKENS,
        "max_tokens": MAX_TOKENS,
        "stream": True,
        "stream_options": {"include_usage": True, "continuous_usage_stats": True},
        "cache_salt": uuid.uuid4().hex,
    }


def ask(
    server: Server,
    model: str,
    question: str,
    clock: Callable[[], float] = time.monotonic,
) -> Heard:
    """Ask, and read to the end: a stream that is left counts as an abort in vLLM.

    Raises:
        ProbeFailed: with the reason.
    """
    sent = clock()
    with _open(server, body(model, question)) as answer:
        return _read(answer, sent, clock)


def _open(server: Server, request: dict[str, object]) -> requests.Response:
    try:
        answer = requests.post(
            f"{server.url}/v1/chat/completions",
            json=request,
            headers=server.headers,
            timeout=(CONNECT_SECONDS, SILENCE_SECONDS),
            stream=True,
        )
    except requests.ReadTimeout as error:
        raise ProbeFailed("timeout", f"nothing for {SILENCE_SECONDS} s") from error
    except requests.RequestException as error:
        raise ProbeFailed("refused", type(error).__name__) from error
    if not answer.ok:
        with answer:
            raise ProbeFailed("http", f"{answer.status_code} {answer.text[:200]}")
    return answer


def _read(answer: requests.Response, sent: float, clock: Callable[[], float]) -> Heard:
    parser, listener = SseParser(), Listener(sent)
    try:
        # Not `iter_content`: it waits for the end where the server does not send chunks.
        while piece := answer.raw.read1(READ_BYTES):
            now = clock()
            for event in parser.feed(piece):
                listener.hear(event, now)
            if now - sent > TOTAL_SECONDS:
                raise ProbeFailed("timeout", f"not ended after {TOTAL_SECONDS} s")
    except ReadTimeoutError as error:
        raise ProbeFailed("timeout", f"silent for {SILENCE_SECONDS} s") from error
    except HTTPError as error:
        raise ProbeFailed("stream", type(error).__name__) from error
    return listener.heard()


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
