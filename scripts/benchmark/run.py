"""A run as it happened, and how one is begun and ended."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import threading
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import aiohttp

from bundle.errors import CouldNotRun, Problem
from scripts.benchmark import counters, refusal, schedule
from scripts.benchmark.drive import Driver, Sender

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bundle.api import Server
    from scripts.benchmark.load import Load, Progress
    from scripts.benchmark.outcome import Outcome


@dataclass(frozen=True)
class Run:
    """What came of a load.

    started: seconds since the epoch. start: the same moment on the outcomes' clock.
    client_cpu_share: CPU seconds per second, so 1 is a whole core. server: what the
    server counted meanwhile. refused: request fields that the server does not take.
    unfinished: requests under way when Ctrl-C stopped the run, `None` if nothing did.
    """

    outcomes: tuple[Outcome, ...]
    started: float = 0.0
    start: float = 0.0
    client_cpu_share: float = 0.0
    server: counters.Counters = counters.NOTHING
    refused: frozenset[str] = frozenset()
    unfinished: int | None = None


def run(server: Server, load: Load, progress: Progress) -> Run:
    """Warm up, then put `load` on `server`.

    Raises:
        CouldNotRun: the server does not answer, or no request came through.
        KeyboardInterrupt: stopped before a request came through.
    """
    done = asyncio.run(_run(server, load, progress))
    if any(not outcome.error for outcome in done.outcomes):
        return done
    if done.unfinished is not None:
        raise KeyboardInterrupt
    raise CouldNotRun(
        Problem(
            f"none of {len(done.outcomes)} requests to {server.url} came through: "
            f"{done.outcomes[0].error}",
            "read the server's log",
        )
    )


async def _run(server: Server, load: Load, progress: Progress) -> Run:
    timeout = aiohttp.ClientTimeout(
        total=None, sock_connect=load.stall_seconds, sock_read=load.stall_seconds
    )
    # aiohttp's own limit of 100 connections would queue requests in the client.
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(
        headers=server.headers, timeout=timeout, connector=connector
    ) as session:
        sender = await _warm_up(Sender(session, server.url, load))
        driver = Driver(sender, progress)
        before = await counters.read(session, server.url)
        done = await _measure(driver)
        answered = sum(not outcome.error for outcome in done.outcomes)
        delta = await counters.read_after(session, server.url, before, answered)
        return replace(done, server=delta, refused=sender.without)


async def _measure(driver: Driver) -> Run:
    """Let it drive, with the garbage collector away from what is already there."""
    gc.freeze()
    started, cpu, start = time.time(), time.process_time(), time.monotonic()
    task = asyncio.ensure_future(driver.drive())
    with _interrupt_cancels(task), contextlib.suppress(asyncio.CancelledError):
        await task
    share = (time.process_time() - cpu) / (time.monotonic() - start)
    gc.unfreeze()
    unfinished = driver.under_way if task.cancelled() else None
    return Run(driver.in_order(), started, driver.start, share, unfinished=unfinished)


async def _warm_up(sender: Sender) -> Sender:
    """Send the warm-ups, the first of them until the server takes its fields.

    Raises:
        CouldNotRun: all fail, as then would all requests of the run.
    """
    outcomes: list[Outcome] = []
    first, *others = schedule.warm_ups(sender.load) or (None,)
    if first is None:
        return sender

    async def attempt(without: frozenset[str]) -> str:
        trial = replace(sender, without=without)
        salt = sender.load.salt("warm-up", len(outcomes))
        outcomes.append(await trial.send(first.prompt, salt, time.monotonic()))
        return outcomes[-1].error

    ready = replace(sender, without=await refusal.refused(attempt))
    now = time.monotonic()
    outcomes += await asyncio.gather(
        *(
            ready.send(one.prompt, sender.load.salt("warm-up", index), now)
            for index, one in enumerate(others, len(outcomes))
        )
    )
    _check(outcomes)
    return ready


def _check(warm_ups: Sequence[Outcome]) -> None:
    if all(outcome.error for outcome in warm_ups):
        raise CouldNotRun(
            Problem(f"warm-up failed: {warm_ups[-1].error}", "read the server's log")
        )


@contextlib.contextmanager
def _interrupt_cancels(task: asyncio.Future[None]) -> Iterator[None]:
    """Let the first Ctrl-C end the task, and the second everything, as it does else."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's
        return
    loop = asyncio.get_running_loop()

    def stop() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        task.cancel()

    loop.add_signal_handler(signal.SIGINT, stop)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
