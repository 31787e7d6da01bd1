"""Intervals against published values, and against what they promise."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from scripts.statistics import (
    interval_ranks,
    mcnemar,
    percentile,
    percentile_interval,
    wilson,
)


@pytest.mark.parametrize(
    ("right", "asked", "low", "high"),
    [
        (3, 20, 0.052, 0.360),
        (5, 5, 0.566, 1.0),
        (0, 10, 0.0, 0.278),
        (81, 263, 0.255, 0.366),
    ],
)
def test_wilson_gives_the_published_intervals(
    right: int, asked: int, low: float, high: float
) -> None:
    """The last is example I of Newcombe (1998), Statistics in Medicine 17:857-872."""
    interval = wilson(right, asked)

    assert (low, high) == pytest.approx((interval.low, interval.high), abs=5e-4)


def test_no_trials_tell_nothing() -> None:
    interval = wilson(0, 0)

    assert (interval.low, interval.high) == (0.0, 1.0)


@given(st.integers(1, 500), st.integers(0, 500))
def test_wilson_holds_the_share(asked: int, right: int) -> None:
    right = min(right, asked)
    interval = wilson(right, asked)

    assert interval.low is not None
    assert interval.high is not None
    assert 0 <= interval.low <= right / asked + 1e-9
    assert right / asked - 1e-9 <= interval.high <= 1


@given(st.integers(1, 2000), st.floats(0, 1))
def test_wilson_is_scipys(asked: int, share: float) -> None:
    right = round(asked * share)
    known = binomtest(right, asked).proportion_ci(0.95, method="wilson")

    ours = wilson(right, asked)
    assert (known.low, known.high) == pytest.approx((ours.low, ours.high), abs=1e-6)


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_is_scipys_exact_binomial_test(first: int, second: int) -> None:
    pairs = first + second
    known = binomtest(first, pairs).pvalue if pairs else 1.0

    assert known == pytest.approx(mcnemar(first, second))


@pytest.mark.parametrize(
    ("count", "percent", "ranks"),
    [(64, 50, (24, 41)), (64, 90, (53, 63)), (64, 99, (61, None)), (1, 50, (None, None))],
)
def test_ranks_of_the_percentile_interval(
    count: int, percent: float, ranks: tuple[int | None, int | None]
) -> None:
    assert ranks == interval_ranks(count, percent)


def test_many_samples_do_not_overflow() -> None:
    low, high = interval_ranks(100_000, 50)

    assert (low, high) == (49_690, 50_311)


def test_the_interval_covers_the_true_percentile_as_often_as_it_says() -> None:
    chance = random.Random(1)
    covered = 0
    for _ in range(500):
        interval = percentile_interval([chance.random() for _ in range(64)], 90)
        assert interval.low is not None
        assert interval.high is not None
        covered += interval.low < 0.9 < interval.high

    assert covered / 500 > 0.93


def test_percentile_interpolates_as_numpy() -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], 50) == 2.5
    assert percentile([0.0, 10.0], 90) == 9.0
    assert percentile([7.0], 99) == 7.0


def test_a_percentile_of_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="no samples"):
        percentile([], 50)
