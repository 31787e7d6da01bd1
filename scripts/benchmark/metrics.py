"""The numbers of a run, each with its definition.

Times are seconds here and milliseconds in the result, as in vLLM's own benchmark. Names
and units follow `vllm bench serve --save-result` (0.23.0) where both know a quantity.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from bundle.model import Slo, Strict
from scripts.statistics import (
    P99_NEEDS,
    Interval,
    percentile,
    percentile_interval,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scripts.benchmark.outcome import Outcome


class Summary(Strict):
    """One latency in milliseconds over `count` samples, with 95% intervals.

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


class Metrics(Strict):
    """What a run measured, over its successful requests.

    duration: seconds from the first send to the last token. Throughputs are per second
    of it. peak_output_tokens_per_s: most tokens in any window of one second;
    max_output_tokens_per_s: vLLM's form, most chunks in a second counted from the first
    send. request_goodput: requests that met the objectives for TTFT and TPOT, per second.
    send lag: actual minus planned send time, milliseconds.
    """

    duration: float
    completed: int
    failed: int
    total_input_tokens: int
    total_output_tokens: int
    offered_rate: float | None
    request_throughput: float
    request_goodput: float
    output_throughput: float
    total_token_throughput: float
    peak_output_tokens_per_s: int
    max_output_tokens_per_s: int
    ttft_ms: Summary | None
    tpot_ms: Summary | None
    itl_ms: Summary | None
    e2el_ms: Summary | None
    send_lag_p50_ms: float
    send_lag_p95_ms: float
    send_lag_max_ms: float


def measure(
    outcomes: Sequence[Outcome], input_len: int, rate: float, slo: Slo
) -> Metrics:
    """Compute the numbers of a run; at least one request must have succeeded.

    `rate` is what was offered, per second; infinite is noted as no rate.
    """
    good = [outcome for outcome in outcomes if not outcome.error]
    first_send = min(outcome.sent for outcome in outcomes)
    duration = max(outcome.arrivals[-1].time for outcome in good) - first_send
    prompt_tokens = sum(
        input_len if outcome.prompt_tokens is None else outcome.prompt_tokens
        for outcome in good
    )
    tokens = sum(outcome.tokens for outcome in good)
    lag = [1000 * (outcome.sent - outcome.scheduled) for outcome in outcomes]
    return Metrics(
        duration=duration,
        completed=len(good),
        failed=len(outcomes) - len(good),
        total_input_tokens=prompt_tokens,
        total_output_tokens=tokens,
        offered_rate=None if rate == float("inf") else rate,
        request_throughput=len(good) / duration,
        request_goodput=sum(meets(outcome, slo) for outcome in good) / duration,
        output_throughput=tokens / duration,
        total_token_throughput=(prompt_tokens + tokens) / duration,
        peak_output_tokens_per_s=peak_tokens(good),
        max_output_tokens_per_s=peak_chunks(good, first_send),
        ttft_ms=summary([outcome.ttft for outcome in good]),
        tpot_ms=summary([tpot for outcome in good if (tpot := outcome.tpot) is not None]),
        itl_ms=summary([gap for outcome in good for gap in outcome.itl]),
        e2el_ms=summary([outcome.e2el for outcome in good]),
        send_lag_p50_ms=percentile(lag, 50),
        send_lag_p95_ms=percentile(lag, 95),
        send_lag_max_ms=max(lag),
    )


def meets(outcome: Outcome, slo: Slo) -> bool:
    """Whether a request met the objectives; one token has no TPOT to miss."""
    return outcome.ttft <= slo.ttft_seconds and (outcome.tpot or 0) <= slo.tpot_seconds


def summary(seconds: Sequence[float]) -> Summary | None:
    """Summarise samples in seconds as milliseconds; `None` for no samples."""
    if not seconds:
        return None
    samples = [1000 * value for value in seconds]
    return Summary(
        count=len(samples),
        mean=sum(samples) / len(samples),
        median=percentile(samples, 50),
        median_interval=percentile_interval(samples, 50),
        p90=percentile(samples, 90),
        p90_interval=percentile_interval(samples, 90),
        p99=percentile(samples, 99),
        p99_interval=percentile_interval(samples, 99),
        p99_supported=len(samples) >= P99_NEEDS,
    )


def peak_tokens(outcomes: Sequence[Outcome]) -> int:
    """Most tokens that arrived in any window [t, t + 1 s)."""
    arrivals = sorted(
        (arrival for outcome in outcomes for arrival in outcome.arrivals),
        key=lambda arrival: arrival.time,
    )
    most, inside, oldest = 0, 0, 0
    for arrival in arrivals:
        inside += arrival.tokens
        while arrivals[oldest].time <= arrival.time - 1:
            inside -= arrivals[oldest].tokens
            oldest += 1
        most = max(most, inside)
    return most


def peak_chunks(outcomes: Sequence[Outcome], start: float) -> int:
    """Most chunks in one of the seconds counted from `start`, as vLLM 0.23 counts.

    It says tokens and counts chunks (vllm-project/vllm#37666); kept for comparison.
    """
    seconds = Counter(
        int(arrival.time - start) for outcome in outcomes for arrival in outcome.arrivals
    )
    return max(seconds.values(), default=0)
