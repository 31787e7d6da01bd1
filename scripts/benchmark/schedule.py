"""What is sent and when: decided before the first request leaves, from one seed."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass

# Random prompts are drawn from ids that are ordinary text in every vocabulary here, so
# that a prompt holds no control token: SmolLM2 has 49,152 ids with its special ones at
# 0..16, Qwen's are ordinary from 0 to 151,642. Both are far from these ends.
TOKEN_IDS = range(1_000, 40_000)


@dataclass(frozen=True)
class Planned:
    """One request of the plan; `at` is seconds after the start of the run."""

    at: float
    prompt: tuple[int, ...]


def plan(count: int, input_len: int, rate: float, seed: int) -> tuple[Planned, ...]:
    """Plan `count` requests of `input_len` random tokens at `rate` requests a second."""
    chance = random.Random(seed)  # noqa: S311 - a repeatable load, not a secret
    times = arrivals(count, rate, chance)
    return tuple(Planned(at, _prompt(input_len, chance)) for at in times)


def warm_ups(count: int, input_len: int, seed: int) -> tuple[Planned, ...]:
    """Plan other prompts of the same shape, all at once, to be thrown away."""
    return plan(count, input_len, math.inf, seed + 1_000_003)


def arrivals(count: int, rate: float, chance: random.Random) -> tuple[float, ...]:
    """Seconds at which a Poisson process of `rate` per second sends `count` requests.

    The gaps are exponential and then scaled so that the last request leaves at exactly
    count/rate, as vLLM 0.23 does (vllm/benchmarks/serve.py), so that runs compare. An
    infinite rate sends all at 0.
    """
    if math.isinf(rate):
        return (0.0,) * count
    times = list(itertools.accumulate(chance.expovariate(rate) for _ in range(count)))
    return tuple(time * (count / rate) / times[-1] for time in times)


def _prompt(length: int, chance: random.Random) -> tuple[int, ...]:
    return tuple(chance.choices(TOKEN_IDS, k=length))
