"""Samples of one latency, summed up."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bundle.model import Strict
from scripts.statistics import P99_NEEDS, Interval, percentile, percentile_interval

if TYPE_CHECKING:
    from collections.abc import Sequence


class Summary(Strict):
    """One latency in milliseconds over `count` samples, with 95% intervals.

    `std` is that of the population, √(Σ(x-mean)²/n), as in vLLM's benchmark.
    `p99_supported` is false where there are too few samples for a P99: it is then close
    to the largest sample.
    """

    count: int
    mean: float
    median: float
    median_interval: Interval
    p90: float
    p90_interval: Interval
    p99: float
    p99_interval: Interval
    p99_supported: bool
    std: float | None = None


def summary(seconds: Sequence[float]) -> Summary | None:
    """Summarise samples in seconds as milliseconds; `None` for no samples."""
    if not seconds:
        return None
    samples = [1000 * value for value in seconds]
    mean = math.fsum(samples) / len(samples)
    variance = math.fsum((sample - mean) ** 2 for sample in samples) / len(samples)
    return Summary(
        count=len(samples),
        mean=mean,
        median=percentile(samples, 50),
        median_interval=percentile_interval(samples, 50),
        p90=percentile(samples, 90),
        p90_interval=percentile_interval(samples, 90),
        p99=percentile(samples, 99),
        p99_interval=percentile_interval(samples, 99),
        p99_supported=len(samples) >= P99_NEEDS,
        std=math.sqrt(variance),
    )
