"""One streamed request of the probe: what is sent, and how it is read."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING

import requests
from urllib3.exceptions import HTTPError, ProtocolError, ReadTimeoutError

from bundle.sse import SseParser
from monitoring.listener import Heard, Listener, ProbeFailed

if TYPE_CHECKING:
    from collections.abc import Callable

    from bundle.api import Server
    from monitoring.listener import Reason

MIN_TOKENS, MAX_TOKENS = 16, 32  # TPOT needs two; more make it steadier
CONNECT_SECONDS, SILENCE_SECONDS, TOTAL_SECONDS = 3, 30, 60
READ_BYTES = 65536


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
        # Somebody who takes the request and hangs up is there.
        heard = any(isinstance(cause, ProtocolError) for cause in error.args)
        reason: Reason = "stream" if heard else "refused"
        raise ProbeFailed(reason, type(error).__name__) from error
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
