"""Each metric by hand from a handful of outcomes."""

from __future__ import annotations

import math

import pytest

from bundle.model import Slo
from scripts.benchmark.metrics import measure, meets, peak_tokens
from scripts.benchmark.outcome import Arrival, Outcome
from scripts.benchmark.seconds import Seconds
from scripts.benchmark.summary import summary

SLO = Slo(ttft_seconds=0.5, tpot_seconds=0.1)


def _outcome(sent: float, *arrivals: tuple[float, int], error: str = "") -> Outcome:
    return Outcome(
        scheduled=sent - 0.001,
        sent=sent,
        arrivals=tuple(Arrival(time, tokens) for time, tokens in arrivals),
        counted="token_ids",
        prompt_tokens=8,
        completion_tokens=sum(tokens for _, tokens in arrivals),
        error=error,
    )


def test_times_of_one_request() -> None:
    outcome = _outcome(10.0, (10.2, 1), (10.3, 1), (10.6, 3))

    assert outcome.ttft == pytest.approx(0.2)
    assert outcome.e2el == pytest.approx(0.6)
    assert outcome.tpot == pytest.approx(0.1)
    assert outcome.itl == pytest.approx([0.1, 0.1, 0.1, 0.1])


def test_one_token_has_no_tpot() -> None:
    assert _outcome(0, (0.2, 1)).tpot is None
    assert _outcome(0, (0.2, 1)).itl == []


def test_totals_count_the_successful_and_name_the_failed() -> None:
    outcomes = [
        _outcome(0.0, (0.1, 1), (1.0, 1)),
        _outcome(1.0, (1.5, 1), (2.0, 1)),
        _outcome(1.5, (1.6, 1), error="cut"),
    ]
    metrics = measure(outcomes, 2.0, SLO)

    assert (metrics.completed, metrics.failed) == (2, 1)
    assert metrics.duration == pytest.approx(2.0)
    assert metrics.request_throughput == pytest.approx(1.0)
    assert metrics.output_throughput == pytest.approx(2.0)
    assert metrics.total_token_throughput == pytest.approx(10.0)
    assert metrics.achieved_rate == pytest.approx(1.0)
    assert metrics.send_lag_max_ms == pytest.approx(1.0)
    assert metrics.ttft_ms is not None
    assert metrics.ttft_ms.mean == pytest.approx(300.0)


def test_an_infinite_rate_is_noted_as_no_rate() -> None:
    assert measure([_outcome(0, (1, 1))], math.inf, SLO).offered_rate is None


def test_goodput_needs_both_objectives() -> None:
    assert meets(_outcome(0, (0.5, 1), (0.6, 1)), SLO)
    assert not meets(_outcome(0, (0.51, 1), (0.6, 1)), SLO)
    assert not meets(_outcome(0, (0.1, 1), (0.3, 1)), SLO)


def test_peak_counts_tokens_in_a_sliding_second() -> None:
    """Four tokens lie across a second's edge: buckets see two, the window all."""
    outcome = _outcome(0.0, (0.9, 2), (1.1, 2), (2.5, 1))

    assert peak_tokens([outcome]) == 4
    assert Seconds.of([outcome]) == Seconds(chunks=1, requests=1)


def test_tokens_a_full_second_apart_are_not_in_one_window() -> None:
    assert peak_tokens([_outcome(0.0, (1.0, 3), (2.0, 4))]) == 4


def test_a_p99_of_few_samples_is_marked() -> None:
    few, many = summary([0.1] * 661), summary([0.1] * 662)

    assert few is not None
    assert many is not None
    assert (few.p99_supported, many.p99_supported) == (False, True)
    assert summary([]) is None
