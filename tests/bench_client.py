"""How many chunks a second our client reads: `python -m tests.bench_client`.

Against a server in a process of its own that sends whole streams at once, `STREAMS` at a
time, by turns with the request function of `vllm bench serve` in the engine's
environment. Each client reads the same bytes: vLLM's own chunks with token ids and usage.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

ROOT = Path(__file__).parents[1]
ENGINE = ROOT / ".venv/engine-cpu/bin/python"

CHUNKS, STREAMS, REQUESTS, TURNS = 1000, 16, 32, 3
CHUNK = {
    "id": "cmpl-9f1c2b7d3e4a5f60",
    "object": "text_completion",
    "created": 1764547200,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "text": " word",
            "logprobs": None,
            "finish_reason": None,
            "stop_reason": None,
            "prompt_token_ids": None,
            "token_ids": [2000],
        }
    ],
    "usage": {"prompt_tokens": 1, "total_tokens": 2, "completion_tokens": 1},
}


def main() -> None:
    """Measure by turns, and print chunks a second of each and the ratio."""
    clients = ("ours", "vllm", "aiohttp")
    for paced in (False, True):
        with server(paced=paced) as url:
            turns = [[rate(client, url) for client in clients] for _ in range(TURNS)]
        ours, theirs, bare = (median(rates) for rates in zip(*turns, strict=True))
        print("a chunk at a time:" if paced else "as fast as it is read:")
        print(f"  ours {ours:,.0f} chunks/s, vllm bench serve {theirs:,.0f}")
        print(f"  aiohttp that drops all it reads {bare:,.0f}")
        ratios = sorted(turn[0] / turn[1] for turn in turns)
        print(f"  ratio {median(ratios):.1f} ({ratios[0]:.1f} to {ratios[-1]:.1f})")


def rate(client: str, url: str) -> float:
    """Give the chunks a second of one client, run in its own environment."""
    python = str(ENGINE) if client == "vllm" else sys.executable
    done = subprocess.run(
        [python, "-m", "tests.bench_client", client, url],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    *told, last = done.stdout.split()
    print(f"  {client}: {' '.join(told)}" if told else "", end="")
    return float(last)


@contextmanager
def server(*, paced: bool) -> Iterator[str]:
    """Run the server in a process of its own."""
    words = [sys.executable, "-m", "tests.bench_client", "serve", str(int(paced))]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.kill()
        process.wait()


def pieces() -> list[bytes]:
    """Give an answer as HTTP chunks: head, one for each event, end."""
    last = json.loads(json.dumps(CHUNK))
    last["choices"][0]["finish_reason"] = "length"
    usage = {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": CHUNKS}}
    events = [*[CHUNK] * (CHUNKS - 1), last, usage]
    data = [json.dumps(event, separators=(",", ":")).encode() for event in events]
    lines = [b"data: " + one + b"\n\n" for one in [*data, b"[DONE]"]]
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n"
    )
    chunked = [b"%x\r\n%b\r\n" % (len(line), line) for line in lines]
    return [head, *chunked, b"0\r\n\r\n"]


def serve(paced: str) -> None:
    """Answer each request with the same stream, all at once or `paced` by its chunks."""
    asyncio.run(_serve(paced == "1"))


async def _serve(paced: bool) -> None:  # noqa: FBT001 - from the command line
    ready = pieces()
    whole = b"".join(ready)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = int(head.lower().partition(b"content-length: ")[2].split()[0])
            await reader.readexactly(length)
            for piece in ready if paced else (whole,):
                writer.write(piece)
                await asyncio.sleep(0)
                await writer.drain()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await answer(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    listening = await asyncio.start_server(handle, "127.0.0.1", 0)
    print(listening.sockets[0].getsockname()[1], flush=True)
    await listening.serve_forever()


def ours(url: str) -> None:
    """Read with our client, and judge each stream."""
    import aiohttp  # noqa: PLC0415 - each environment has its own client

    from scripts.benchmark.request import Ask, send  # noqa: PLC0415 - likewise

    ask = Ask("m", (1,), CHUNKS, "salt")

    async def client() -> None:
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:

            async def one() -> bool:
                return not (await send(session, url, ask, time.monotonic())).error

            await _read_all(one)

    asyncio.run(client())


def bare(url: str) -> None:
    """Read with aiohttp, and do nothing with it: what no client on it can beat."""
    import aiohttp  # noqa: PLC0415 - each environment has its own client

    async def client() -> None:
        async with aiohttp.ClientSession() as session:

            async def one() -> bool:
                async with session.post(f"{url}/v1/completions", data=b"{}") as answer:
                    while await answer.content.readany():
                        pass
                return True

            await _read_all(one)

    asyncio.run(client())


def vllm(url: str) -> None:
    """Read with the request function of `vllm bench serve`."""
    import aiohttp  # noqa: PLC0415 - each environment has its own client
    from vllm.benchmarks.lib import endpoint_request_func as theirs  # noqa: PLC0415

    ask = theirs.RequestFuncInput("1", f"{url}/v1/completions", 1, CHUNKS, "m")

    async def client() -> None:
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:

            async def one() -> bool:
                output = await theirs.async_request_openai_completions(ask, session)
                return bool(output.success)

            await _read_all(one)

    asyncio.run(client())


async def _read_all(one: Callable[[], Awaitable[bool]]) -> None:
    """Read `REQUESTS` streams after a warm-up; print the chunks a second of CPU time.

    A client is one thread, so that this is what it can hold; seconds on the clock would
    measure the server, and who else is on the machine.
    """
    assert await one()
    left = iter(range(REQUESTS))

    failed = 0

    async def one_after_another() -> None:
        nonlocal failed
        for _ in left:
            failed += not await one()

    started = time.process_time()
    await asyncio.gather(*(one_after_another() for _ in range(STREAMS)))
    rate = REQUESTS * CHUNKS / (time.process_time() - started)
    print(f"{failed} of {REQUESTS} streams were not understood" if failed else "", rate)


if __name__ == "__main__":
    PARTS = {"serve": serve, "ours": ours, "vllm": vllm, "aiohttp": bare}
    PARTS[sys.argv[1]](sys.argv[2]) if len(sys.argv) > 1 else main()
