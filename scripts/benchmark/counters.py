"""What the server itself counted over a run, to hold against what the client saw."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import aiohttp
from prometheus_client.parser import text_string_to_metric_families

if TYPE_CHECKING:
    from collections.abc import Mapping

# Name here: sample in vLLM's page. Summed over engines, models and finish reasons.
_SAMPLES = {
    "requests": "vllm:request_success_total",
    "prompt_tokens": "vllm:prompt_tokens_total",
    "generation_tokens": "vllm:generation_tokens_total",
    "cached_tokens": "vllm:prefix_cache_hits_total",
    "ttft_count": "vllm:time_to_first_token_seconds_count",
    "ttft_sum": "vllm:time_to_first_token_seconds_sum",
}
_TIMEOUT = aiohttp.ClientTimeout(total=5)
_SETTLE_SECONDS, _SETTLE_TIMES = 0.1, 20  # vLLM counts a request after its last chunk


@dataclass(frozen=True)
class Counters:
    """Totals since the server's start; `None` for what the page lacks."""

    requests: float | None = None
    prompt_tokens: float | None = None
    generation_tokens: float | None = None
    cached_tokens: float | None = None
    ttft_count: float | None = None
    ttft_sum: float | None = None

    @property
    def known(self) -> bool:
        """Whether the page is that of a vLLM."""
        return self.requests is not None

    @property
    def mean_ttft_ms(self) -> float | None:
        """Mean TTFT in milliseconds, as the server sees it."""
        if not self.ttft_count or self.ttft_sum is None:
            return None
        return 1000 * self.ttft_sum / self.ttft_count

    def since(self, before: Counters) -> Counters:
        """Give what was counted after `before`."""
        mine, other = vars(self), vars(before)
        return Counters(**{name: _minus(mine[name], other[name]) for name in vars(self)})


NOTHING = Counters()


async def read(session: aiohttp.ClientSession, url: str) -> Counters:
    """Ask the server at `url`; without a page of vLLM's, nothing is known."""
    try:
        async with session.get(f"{url}/metrics", timeout=_TIMEOUT) as answer:
            page = await answer.text(errors="replace") if answer.ok else ""
            return parse(page)
    except (aiohttp.ClientError, OSError, asyncio.TimeoutError):
        return Counters()


async def read_after(
    session: aiohttp.ClientSession, url: str, before: Counters, requests: int
) -> Counters:
    """Give what was counted since `before`, once it holds `requests` or time is up."""
    now = Counters()
    for _ in range(_SETTLE_TIMES if before.known else 0):
        now = await read(session, url)
        if not now.known or (now.since(before).requests or 0) >= requests:
            break
        await asyncio.sleep(_SETTLE_SECONDS)
    return now.since(before)


def parse(page: str) -> Counters:
    """Read a page in Prometheus' text form; what cannot be read tells nothing."""
    sums: dict[str, float] = {}
    try:
        for family in text_string_to_metric_families(page):
            for sample in family.samples:
                sums[sample.name] = sums.get(sample.name, 0.0) + sample.value
    except ValueError:
        return Counters()
    return _named(sums)


def _named(sums: Mapping[str, float]) -> Counters:
    known = {name: sums.get(sample) for name, sample in _SAMPLES.items()}
    finite = {k: v for k, v in known.items() if v is not None and math.isfinite(v)}
    return Counters(**finite)


def _minus(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else after - before
