"""One streamed request: the body that makes it comparable, and its way over HTTP."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

import aiohttp

from bundle.sse import SseParser
from scripts.benchmark.stream import Stream

if TYPE_CHECKING:
    from scripts.benchmark.outcome import Outcome


@dataclass(frozen=True)
class Ask:
    """One request: a prompt of token ids, and how many tokens to generate."""

    model: str
    prompt: tuple[int, ...]
    output_len: int
    salt: str


def body(ask: Ask) -> dict[str, object]:
    """Give the request body for `/v1/completions`.

    Token ids instead of text: exactly as many prompt tokens as planned, and no tokenizer
    here. `cache_salt` keeps the prefix cache cold: the same seed run twice would measure
    the cache. `ignore_eos` and `min_tokens` hold the output length. The rest overrides
    what the server's folder may set, and asks for counts in every chunk.
    """
    return {
        "model": ask.model,
        "prompt": list(ask.prompt),
        "max_tokens": ask.output_len,
        "min_tokens": ask.output_len,
        "ignore_eos": True,
        "temperature": 0,
        "repetition_penalty": 1.0,
        "stream": True,
        "stream_options": {"include_usage": True, "continuous_usage_stats": True},
        "return_token_ids": True,
        "cache_salt": ask.salt,
    }


async def send(
    session: aiohttp.ClientSession, url: str, ask: Ask, scheduled: float
) -> Outcome:
    """Send `ask` to the server at `url` now; whatever happens becomes an `Outcome`."""
    stream = Stream(ask.output_len)
    sent = time.monotonic()
    try:
        error = await _read(session, f"{url}/v1/completions", ask, stream)
    except asyncio.TimeoutError:
        error = "timed out: no data for too long"
    except (aiohttp.ClientError, OSError) as broken:
        error = f"connection broken: {broken or type(broken).__name__}"
    return stream.outcome(scheduled, sent, error)


async def _read(
    session: aiohttp.ClientSession, url: str, ask: Ask, stream: Stream
) -> str:
    parser = SseParser()
    async with session.post(url, json=body(ask)) as answer:
        if answer.status != HTTPStatus.OK:
            return f"HTTP {answer.status}: {(await answer.text())[:200]}"
        async for piece in answer.content.iter_any():
            now = time.monotonic()
            for event in parser.feed(piece):
                stream.add(event, now)
    return ""
