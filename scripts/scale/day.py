"""A day in steps of a second: requests arrive, wait, are prefilled, decode and end."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scripts.scale.card import TPOT_SECONDS, TTFT_SECONDS, Card, Pool
from scripts.scale.scaler import POLL, Rule, Scaler

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DAY = 86_400
LOAD = 0.9  # the peak, as a share of what all replicas carry within the objectives
_JUMP = range(14 * 3600, 14 * 3600 + 1800)


@dataclass(frozen=True)
class Second:
    """What a second was like for the `arrived` requests of it."""

    arrived: float
    ttft: float
    tpot: float
    replicas: int


@dataclass(frozen=True)
class Day:
    """What a day was like; shares of requests, and of the replica-hours at most."""

    ttft_good: float
    ttft_p99: float
    tpot_good: float
    used: float


def demand(second: int, peak: float) -> float:
    """Requests/s: a quiet night, peaks at 10:00 and 20:00, and a jump.

    From 14:00 to 14:30 there are five times as many as before.
    """
    hour = second / 3600
    hills = sum(math.exp(-(((hour - top) / 2.2) ** 2)) for top in (10, 20))
    jump = 0.4 if second in _JUMP else 0
    return peak * min(0.08 + 0.92 * hills + jump, 1)


def simulate(card: Card, rule: Rule | None, most: int) -> Day:
    """Run a day; without a rule all replicas are always there."""
    return _day(list(_seconds(card, rule, most)), most)


def _seconds(card: Card, rule: Rule | None, most: int) -> Iterator[Second]:
    chance = random.Random(most)  # noqa: S311 - the same day every time
    peak = LOAD * most * card.capacity()
    pool = Pool(card, _first(card, most, peak) if rule else most)
    scaler = Scaler(rule or Rule(None, None), most, pool.ready)
    scraped = 0.0, 0.0
    for now in range(DAY):
        rate = demand(now, peak)
        arrived = max(chance.gauss(rate, math.sqrt(rate)), 0)
        yield Second(arrived, *pool.second(arrived), scaler.replicas)
        if rule and now % POLL == 0:
            scaler.poll(now, *scraped)
            scraped = pool.waiting, pool.running
        pool.ready = scaler.ready(now, pool.ready)


def _first(card: Card, most: int, peak: float) -> int:
    """Replicas at midnight: enough for twice what is asked then."""
    return min(math.ceil(2 * demand(0, peak) / card.capacity()), most)


def _day(seconds: Sequence[Second], most: int) -> Day:
    total = sum(one.arrived for one in seconds)
    quick = sum(one.arrived for one in seconds if one.ttft <= TTFT_SECONDS)
    even = sum(one.arrived for one in seconds if one.tpot <= TPOT_SECONDS)
    used = sum(one.replicas for one in seconds) / (most * DAY)
    return Day(quick / total, _p99(seconds, total), even / total, used)


def _p99(seconds: Sequence[Second], total: float) -> float:
    """TTFT that 1 request in 100 exceeds."""
    slower = 0.0
    for one in sorted(seconds, key=lambda one: one.ttft, reverse=True):
        slower += one.arrived
        if slower >= total / 100:
            return one.ttft
    raise ValueError("a day without requests")
