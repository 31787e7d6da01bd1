"""Intervals around what was measured, so that few samples do not pose as many."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Z95 = 1.959964  # two-sided 95% quantile of the normal distribution

# Samples that support a percentile at 99% confidence, by MLPerf's early-stopping rule:
# https://github.com/mlcommons/endpoints docs/early_stopping.md
P99_NEEDS = 662


@dataclass(frozen=True)
class Interval:
    """Both ends; `None` where the samples do not bound that side."""

    low: float | None
    high: float | None


def wilson(successes: int, trials: int, z: float = Z95) -> Interval:
    """Wilson score interval of a proportion.

    With p = k/n: (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n).
    Wilson, E. B. (1927), J. Am. Stat. Assoc. 22:209-212. Unlike the textbook interval it
    stays within 0..1 and is right for few trials. No trials: nothing is known, 0..1.
    """
    if trials == 0:
        return Interval(0.0, 1.0)
    share, squared = successes / trials, z * z
    centre = share + squared / (2 * trials)
    spread = z * math.sqrt(share * (1 - share) / trials + squared / (4 * trials * trials))
    scale = 1 + squared / trials
    # At 0 and n the formula gives 0 and 1, up to rounding.
    return Interval(
        max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)
    )


def mcnemar(only_first: int, only_second: int) -> float:
    """Two-sided exact p of McNemar's test on paired yes-or-no answers.

    `only_first` and `only_second` count the pairs in which just one of the two is right.
    If neither is better, each is Binomial(n, 1/2) with n their sum, so
    p = min(1, 2 P(B ≤ the smaller)). McNemar, Q. (1947), Psychometrika 12:153-157, in its
    exact form. No such pair: nothing speaks against equality, p = 1.
    """
    pairs = only_first + only_second
    tail = sum(math.comb(pairs, k) for k in range(min(only_first, only_second) + 1))
    return min(1.0, 2 * tail / (1 << pairs))


def percentile(samples: Sequence[float], percent: float) -> float:
    """Percentile with linear interpolation between ranks, as `numpy.percentile`.

    With the sorted samples x_0..x_(n-1) and h = (n-1) percent/100:
    x_⌊h⌋ + (h-⌊h⌋)(x_⌈h⌉ - x_⌊h⌋). Hyndman and Fan (1996), The American Statistician
    50:361-365, definition 7. Raises `ValueError` for no samples.
    """
    if not samples:
        raise ValueError("a percentile of no samples")
    ordered = sorted(samples)
    position = (len(ordered) - 1) * percent / 100
    low, high = ordered[math.floor(position)], ordered[math.ceil(position)]
    return low + (position - math.floor(position)) * (high - low)


def percentile_interval(samples: Sequence[float], percent: float) -> Interval:
    """95% interval of a percentile by order statistics, whatever the distribution.

    The number B of samples below the percentile q is Binomial(n, percent/100), so
    P(x_(l) < q < x_(u)) = P(l ≤ B ≤ u-1); l and u-1 are its 2.5% and 97.5% quantiles.
    David and Nagaraja (2003), Order Statistics, 3rd ed., section 7.1. A rank outside
    1..n means that the samples do not bound that side. `percent` lies between 0 and 100,
    both excluded.
    """
    low, high = interval_ranks(len(samples), percent)
    ordered = sorted(samples)
    return Interval(
        ordered[low - 1] if low else None, ordered[high - 1] if high else None
    )


def interval_ranks(count: int, percent: float) -> tuple[int | None, int | None]:
    """Ranks, from 1, of the two samples that bound the percentile; see above."""
    low = _binomial_quantile(count, percent / 100, 0.025)
    high = _binomial_quantile(count, percent / 100, 0.975) + 1
    return (low if low >= 1 else None, high if high <= count else None)


def _binomial_quantile(count: int, share: float, probability: float) -> int:
    """Smallest k with P(B ≤ k) ≥ probability; in logarithms, lest it overflows."""
    below = 0.0
    for k in range(count):
        ways = math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1)
        below += math.exp(ways + k * math.log(share) + (count - k) * math.log(1 - share))
        if below >= probability:
            return k
    return count


def paired_ratio(
    ours: Sequence[float], theirs: Sequence[float], draws: int = 10_000, seed: int = 0
) -> tuple[float, Interval]:
    """Geometric mean of the ratios of each pair, and its 95% bootstrap interval.

    The mean of d_i = ln(ours_i/theirs_i), of samples drawn from d with replacement, has
    its quantiles at Φ(±√(n/(n-1)) t), where t is Student's 97.5% quantile of n-1 degrees:
    the plain percentiles cover too little for the few pairs of a benchmark. Hesterberg
    (2015), The American Statistician 69:371-386, section 5.3. Fewer than four pairs
    bound nothing. Raises `ValueError` unless all values are positive.
    """
    if min(*ours, *theirs) <= 0:
        raise ValueError("a ratio of values that are not positive")
    logs = [math.log(a / b) for a, b in zip(ours, theirs, strict=True)]
    ratio = math.exp(_mean(logs))
    if len(logs) < 4:  # noqa: PLR2004 - below, Student's t is beyond any sample
        return ratio, Interval(None, None)
    chance = random.Random(seed)  # noqa: S311 - a repeatable interval, not a secret
    means = [_mean(chance.choices(logs, k=len(logs))) for _ in range(draws)]
    tail = 100 * NormalDist().cdf(-math.sqrt(len(logs) / (len(logs) - 1)) * _t(len(logs)))
    return ratio, Interval(
        math.exp(percentile(means, tail)), math.exp(percentile(means, 100 - tail))
    )


def _t(count: int) -> float:
    """Student's 97.5% quantile of count-1 degrees: Abramowitz and Stegun, 26.7.5."""
    z, v = Z95, count - 1
    terms = (
        z,
        (z**3 + z) / (4 * v),
        (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2),
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3),
    )
    return math.fsum(terms)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
