"""Send a plan: at its times, or as fast as a number of clients get their answers."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from scripts.benchmark import schedule
from scripts.benchmark.request import Ask, send

if TYPE_CHECKING:
    from collections.abc import Iterator

    import aiohttp

    from scripts.benchmark.load import Load, Progress
    from scripts.benchmark.outcome import Outcome
    from scripts.benchmark.request import Prompt

    Numbered = Iterator[tuple[int, schedule.Planned]]

# Before the first planned request, so that it too can be sent on time.
_LEAD_SECONDS = 0.05
_LIVE_SECONDS = 0.5
_RECENT = 16  # requests whose TTFT is shown meanwhile


@dataclass(frozen=True)
class Sender:
    """Sends the requests of `load`, `without` the fields that the server refuses."""

    session: aiohttp.ClientSession
    url: str
    load: Load
    without: frozenset[str] = frozenset()

    async def send(self, prompt: Prompt, salt: str, scheduled: float) -> Outcome:
        """Send one."""
        load = self.load
        hold, keep_ids = not load.chats, load.turns > 1
        ask = Ask(load.model, prompt, load.output_len, salt, hold, self.without, keep_ids)
        return await send(self.session, self.url, ask, scheduled)


@dataclass
class Driver:
    """Drives one run, and holds what came of it so far; times are monotonic seconds."""

    sender: Sender
    progress: Progress
    start: float = 0.0
    under_way: int = 0
    tokens: int = 0
    outcomes: list[Outcome] = field(default_factory=list)

    def in_order(self) -> tuple[Outcome, ...]:
        """Give the outcomes in the order in which they were planned."""
        return tuple(sorted(self.outcomes, key=lambda outcome: outcome.scheduled))

    async def drive(self) -> None:
        """Send everything; what came until a cancellation stays."""
        load = self.sender.load
        numbered: Numbered = enumerate(schedule.plan(load))
        if not load.concurrency:
            numbered = iter(list(numbered))  # drawing prompts takes time that nobody has
        self.start = time.monotonic() + _LEAD_SECONDS
        live = asyncio.ensure_future(self._show_live())
        try:
            await (self._closed(numbered) if load.concurrency else self._open(numbered))
        finally:
            live.cancel()
            with suppress(asyncio.CancelledError):
                await live
        self._show()

    async def _open(self, numbered: Numbered) -> None:
        async def at_its_time(index: int, planned: schedule.Planned) -> None:
            due = self.start + planned.at
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            await self._talk(index, planned, due)

        await asyncio.gather(*(at_its_time(*one) for one in numbered))

    async def _closed(self, numbered: Numbered) -> None:
        load = self.sender.load
        await asyncio.sleep(max(0.0, self.start - time.monotonic()))
        ends = self.start + load.min_seconds

        async def one_after_another() -> None:
            for index, planned in numbered:
                if index >= load.count and time.monotonic() >= ends:
                    return
                await self._talk(index, planned, time.monotonic())

        await asyncio.gather(*(one_after_another() for _ in range(load.concurrency or 0)))

    async def _talk(
        self, index: int, planned: schedule.Planned, scheduled: float
    ) -> None:
        """Hold a conversation; it ends early where an answer fails."""
        salt, prompt = self.sender.load.salt("run", index), planned.prompt
        outcome = await self._send(prompt, salt, scheduled)
        for turn in planned.turns:
            if outcome.error:
                return
            prompt = (*cast("tuple[int, ...]", prompt), *outcome.ids, *turn)
            outcome = await self._send(prompt, salt, time.monotonic())

    async def _send(self, prompt: Prompt, salt: str, scheduled: float) -> Outcome:
        self.under_way += 1
        outcome = await self.sender.send(prompt, salt, scheduled)
        self.under_way -= 1
        self.outcomes.append(outcome)
        self.tokens += 0 if outcome.error else outcome.tokens
        return outcome

    async def _show_live(self) -> None:
        while True:
            await asyncio.sleep(_LIVE_SECONDS)
            self._show()

    def _show(self) -> None:
        done, load = len(self.outcomes), self.sender.load
        elapsed = max(1e-9, time.monotonic() - self.start)
        total = max(done, load.count * load.turns)
        if elapsed < load.min_seconds:
            total = max(total, int(done * load.min_seconds / elapsed))
        recent = [1000 * one.ttft for one in self.outcomes[-_RECENT:] if not one.error]
        ttft = f"TTFT {sum(recent) / len(recent):.0f} ms, " if recent else ""
        self.progress(done, total, f"{ttft}{self.tokens / elapsed:.0f} tok/s")
