"""The plan: repeatable, exact in length, free of control tokens, Poisson in time."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from scripts.benchmark.load import Load
from scripts.benchmark.schedule import Planned, arrivals, plan, warm_ups

if TYPE_CHECKING:
    from collections.abc import Iterable

SMALL = Load("m", input_len=8, num_prompts=3)


def _lengths(planned: Iterable[Planned]) -> list[int]:
    return [len(one.prompt) for one in planned]


def test_the_same_seed_gives_the_same_plan_and_another_seed_another() -> None:
    first, same = (list(plan(replace(SMALL, seed=1))) for _ in range(2))

    assert first == same
    assert first != list(plan(replace(SMALL, seed=2)))


def test_prompts_have_their_length_and_only_ordinary_tokens() -> None:
    base = list(plan(Load("m")))

    assert _lengths(base) == [512] * 64
    assert all(t in range(17, 49_152) for one in base for t in one.prompt)


def test_the_last_request_leaves_at_count_over_rate() -> None:
    times = arrivals(64, 4.0, random.Random(0))

    assert times[-1] == pytest.approx(16.0)
    assert list(times) == sorted(times)


def test_gaps_are_exponential_so_their_spread_is_their_mean() -> None:
    times = (0.0, *arrivals(20_000, 10.0, random.Random(0)))
    gaps = [after - before for before, after in itertools.pairwise(times)]
    mean = sum(gaps) / len(gaps)
    spread = math.sqrt(sum((gap - mean) ** 2 for gap in gaps) / len(gaps))

    assert mean == pytest.approx(0.1, rel=0.01)
    assert spread == pytest.approx(mean, rel=0.03)


def test_an_infinite_rate_sends_all_at_once() -> None:
    assert arrivals(3, math.inf, random.Random(0)) == (0.0, 0.0, 0.0)


def test_warm_ups_are_other_prompts_of_the_same_shape() -> None:
    first, measured = warm_ups(Load("m", 16)), list(plan(Load("m", 16)))

    assert _lengths(first) == [16] * 4
    assert not {one.prompt for one in first} & {one.prompt for one in measured}


def test_lengths_spread_evenly_over_the_range_and_no_further() -> None:
    load = Load("m", 100, num_prompts=2000, rate=math.inf, input_len_range=0.5)
    lengths = _lengths(plan(load))

    assert (min(lengths), max(lengths)) == (50, 150)
    assert sum(lengths) / len(lengths) == pytest.approx(100, abs=3)


def test_a_shared_prefix_begins_each_prompt_and_turns_add_to_it() -> None:
    load = replace(SMALL, prefix_len=5, turns=3)
    first, second, third = plan(load)

    assert first.prompt[:5] == second.prompt[:5] == third.prompt[:5]
    assert first.prompt[5:] != second.prompt[5:]
    assert [len(turn) for turn in first.turns] == [8, 8]


def test_a_rate_goes_on_for_the_time_that_is_asked() -> None:
    times = [one.at for one in plan(replace(SMALL, rate=2.0, min_seconds=10.0))]

    assert len(times) == 20
    assert times[-1] == pytest.approx(10.0)


def test_a_closed_loop_has_a_plan_without_end_and_chats_come_again() -> None:
    chats = ({"role": "user", "content": "a"},), ({"role": "user", "content": "b"},)
    endless = plan(Load("m", concurrency=2, num_prompts=1, chats=chats))

    assert [one.prompt for one in itertools.islice(endless, 3)] == [*chats, chats[0]]
