"""The plan: repeatable, exact in length, free of control tokens, Poisson in time."""

from __future__ import annotations

import itertools
import math
import random

import pytest

from scripts.benchmark.schedule import arrivals, plan, warm_ups


def test_the_same_seed_gives_the_same_plan_and_another_seed_another() -> None:
    assert plan(3, 8, 4, seed=1) == plan(3, 8, 4, seed=1)
    assert plan(3, 8, 4, seed=1) != plan(3, 8, 4, seed=2)


def test_prompts_have_their_length_and_only_ordinary_tokens() -> None:
    for planned in plan(64, 512, 4, seed=0):
        assert len(planned.prompt) == 512
        assert all(16 < token < 49_152 for token in planned.prompt)


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
    first, measured = warm_ups(4, 16, seed=0), plan(64, 16, 4, seed=0)

    assert {len(one.prompt) for one in first} == {16}
    assert not {one.prompt for one in first} & {one.prompt for one in measured}
