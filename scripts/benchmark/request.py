"""One streamed request: the body that makes it comparable, and its way over HTTP."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

import aiohttp

from bundle.api import MOST_BYTES, Message
from scripts.benchmark.reader import Reader
from scripts.benchmark.stream import Stream

if TYPE_CHECKING:
    from scripts.benchmark.outcome import Outcome

Prompt = tuple[int, ...] | tuple[Message, ...]

# What OpenAI's own API does not have, or a server may refuse, and a run can do without.
OPTIONAL = (
    "cache_salt",
    "return_token_ids",
    "continuous_usage_stats",
    "stream_options",
    "repetition_penalty",
    "min_tokens",
    "ignore_eos",
)
_SHOWN = 500  # bytes of an answer that is an error


@dataclass(frozen=True)
class Ask:
    """One request: a prompt of token ids or a chat, and how many tokens to generate.

    hold: ask the server for `output_len` tokens whatever the model would say. without:
    fields of `OPTIONAL` that the server refuses. keep_ids: the next turn needs them.
    """

    model: str
    prompt: Prompt
    output_len: int
    salt: str
    hold: bool = True
    without: frozenset[str] = frozenset()
    keep_ids: bool = False

    @property
    def chat(self) -> bool:
        """Whether the prompt is a chat."""
        return isinstance(self.prompt[0], dict)

    @property
    def exact(self) -> bool:
        """Whether a right answer has exactly `output_len` tokens."""
        return self.hold and "ignore_eos" not in self.without

    @property
    def path(self) -> str:
        """Where it is sent."""
        return "/v1/chat/completions" if self.chat else "/v1/completions"


def body(ask: Ask) -> dict[str, object]:
    """Give the request body.

    Token ids instead of text: exactly as many prompt tokens as planned, and no tokenizer
    here. `cache_salt` keeps the prefix cache cold: the same seed run twice would measure
    the cache. `ignore_eos` and `min_tokens` hold the output length. The rest overrides
    what the server's folder may set, and asks for counts in every chunk.
    """
    usage = {"include_usage": True, "continuous_usage_stats": True}
    held = {"min_tokens": ask.output_len, "ignore_eos": True} if ask.hold else {}
    fields = {
        "model": ask.model,
        "messages" if ask.chat else "prompt": list(ask.prompt),
        "max_tokens": ask.output_len,
        **held,
        "temperature": 0,
        "repetition_penalty": 1.0,
        "stream": True,
        "stream_options": {k: v for k, v in usage.items() if k not in ask.without},
        "return_token_ids": True,
        "cache_salt": ask.salt,
    }
    return {name: value for name, value in fields.items() if name not in ask.without}


async def send(
    session: aiohttp.ClientSession, url: str, ask: Ask, scheduled: float
) -> Outcome:
    """Send `ask` to the server at `url` now; whatever happens becomes an `Outcome`."""
    stream = Stream(ask)
    request = json.dumps(body(ask)).encode()
    sent = time.monotonic()
    try:
        error = await _read(session, url + ask.path, request, stream)
    except asyncio.TimeoutError:
        error = "timed out: no data for too long"
    except (aiohttp.ClientError, OSError) as broken:
        error = f"connection broken: {broken or type(broken).__name__}"
    return stream.outcome(scheduled, sent, error)


async def _read(
    session: aiohttp.ClientSession, url: str, request: bytes, stream: Stream
) -> str:
    reader = Reader(stream)
    kind = {"Content-Type": "application/json"}
    async with session.post(url, data=request, headers=kind) as answer:
        if answer.status != HTTPStatus.OK:
            said = (await _beginning(answer.content)).decode(errors="replace")
            return f"HTTP {answer.status}: {said}"
        size = 0
        while piece := await answer.content.readany():
            reader.feed(piece, time.monotonic())
            size += len(piece)
            if size > MOST_BYTES:
                return f"the answer is longer than {MOST_BYTES >> 20} MiB"
    return ""


async def _beginning(content: aiohttp.StreamReader) -> bytes:
    said = b""
    while len(said) < _SHOWN and (piece := await content.readany()):
        said += piece
    return said[:_SHOWN]
