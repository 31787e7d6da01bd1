"""Send a plan at its times and gather what came of it."""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import aiohttp

from bundle.errors import CouldNotRun, Problem
from scripts.benchmark import schedule
from scripts.benchmark.request import Ask, send

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from bundle.api import Server
    from scripts.benchmark.outcome import Outcome

    Progress = Callable[[int, int], None]

# Before the first planned request, so that it too can be sent on time.
_LEAD_SECONDS = 0.05


def _run_id() -> str:
    return secrets.token_hex(8)


@dataclass(frozen=True)
class Load:
    """What to put on a server; the defaults are the base point of the reference run.

    `rate` is requests per second. `stall_seconds` is how long a stream may bring nothing.
    `run_id` goes into each request's `cache_salt`: another one finds a cold prefix cache.
    """

    model: str
    input_len: int = 512
    output_len: int = 128
    rate: float = 4.0
    num_prompts: int = 64
    seed: int = 0
    warm_ups: int = 4
    stall_seconds: float = 300.0
    run_id: str = field(default_factory=_run_id)


def run(server: Server, load: Load, progress: Progress) -> tuple[Outcome, ...]:
    """Warm up, then run `load`; `progress` is told requests done, and of how many.

    Raises:
        CouldNotRun: the server does not answer, or no request came through.
    """
    outcomes = asyncio.run(_run(server, load, progress))
    if all(outcome.error for outcome in outcomes):
        raise CouldNotRun(
            Problem(
                f"none of {len(outcomes)} requests to {server.url} came through: "
                f"{outcomes[0].error}",
                "read the server's log",
            )
        )
    return outcomes


async def _run(server: Server, load: Load, progress: Progress) -> tuple[Outcome, ...]:
    timeout = aiohttp.ClientTimeout(
        total=None, sock_connect=load.stall_seconds, sock_read=load.stall_seconds
    )
    # aiohttp's own limit of 100 connections would queue requests in the client.
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(
        headers=server.headers, timeout=timeout, connector=connector
    ) as session:
        first = schedule.warm_ups(load.warm_ups, load.input_len, load.seed)
        _check(await _send_all(session, server.url, load, first, "warm-up"))
        planned = schedule.plan(load.num_prompts, load.input_len, load.rate, load.seed)
        return await _send_all(
            session, server.url, load, planned, "run", progress=progress
        )


def _check(warm_ups: Sequence[Outcome]) -> None:
    """Stop before a run in which each request would fail like the first warm-up."""
    if warm_ups and all(outcome.error for outcome in warm_ups):
        raise CouldNotRun(
            Problem(f"warm-up failed: {warm_ups[0].error}", "read the server's log")
        )


async def _send_all(
    session: aiohttp.ClientSession,
    url: str,
    load: Load,
    planned: Sequence[schedule.Planned],
    purpose: str,
    *,
    progress: Progress = lambda _done, _total: None,
) -> tuple[Outcome, ...]:
    start = time.monotonic() + _LEAD_SECONDS
    done = 0

    async def one(index: int, request: schedule.Planned) -> Outcome:
        nonlocal done
        ask = Ask(
            load.model,
            request.prompt,
            load.output_len,
            f"{load.run_id}-{purpose}-{index}",
        )
        await asyncio.sleep(max(0.0, start + request.at - time.monotonic()))
        outcome = await send(session, url, ask, start + request.at)
        done += 1
        progress(done, len(planned))
        return outcome

    requests: list[Coroutine[None, None, Outcome]] = [
        one(index, request) for index, request in enumerate(planned)
    ]
    return tuple(await asyncio.gather(*requests))
