"""What is sent and when: decided before the first request leaves, from one seed."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bundle.api import Message
    from scripts.benchmark.load import Load
    from scripts.benchmark.request import Prompt

# Random prompts are drawn from ids that are ordinary text in every vocabulary here, so
# that a prompt holds no control token: SmolLM2 has 49,152 ids with its special ones at
# 0..16, Qwen's are ordinary from 0 to 151,642. Both are far from these ends.
TOKEN_IDS = range(1_000, 40_000)

# A seed's warm-ups have another one, so that they are other prompts.
_WARM_UP_SEED = 1_000_003


@dataclass(frozen=True)
class Planned:
    """One request, or a conversation; `at` is seconds after the start of the run.

    Each of `turns` is what the user adds to prompt and answer so far.
    """

    at: float
    prompt: Prompt
    turns: tuple[tuple[int, ...], ...] = ()


def plan(load: Load) -> Iterator[Planned]:
    """Plan what `load` asks for; without end for a closed loop."""
    chance = random.Random(load.seed)  # noqa: S311 - a repeatable load, not a secret
    times: Iterable[float] = arrivals(load.count, load.open_rate, chance)
    if load.concurrency:
        times = itertools.repeat(0.0)
    prompts = _chats(load.chats) if load.chats else _random_prompts(load, chance)
    return (replace(next(prompts), at=at) for at in times)


def warm_ups(load: Load) -> tuple[Planned, ...]:
    """Plan other prompts of the same shape, all at once, to be thrown away."""
    other = replace(
        load, seed=load.seed + _WARM_UP_SEED, concurrency=1, turns=1, prefix_len=0
    )
    return tuple(itertools.islice(plan(other), load.warm_ups))


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


def _random_prompts(load: Load, chance: random.Random) -> Iterator[Planned]:
    """Draw prompts of token ids for ever.

    Lengths are uniform from ⌊L(1-r)⌋ to ⌈L(1+r)⌉, at least 1, as in vLLM's benchmark.
    """
    spread = load.input_len * load.input_len_range
    low = max(1, math.floor(load.input_len - spread))
    high = math.ceil(load.input_len + spread)

    def draw() -> tuple[int, ...]:
        length = low if low == high else chance.randint(low, high)
        return tuple(chance.choices(TOKEN_IDS, k=length))

    prefix = tuple(chance.choices(TOKEN_IDS, k=load.prefix_len))
    while True:
        first, *others = (draw() for _ in range(load.turns))
        yield Planned(0.0, prefix + first, tuple(others))


def _chats(chats: tuple[tuple[Message, ...], ...]) -> Iterator[Planned]:
    """Go through the chats in their order, again and again."""
    return (Planned(0.0, chat) for chat in itertools.cycle(chats))
