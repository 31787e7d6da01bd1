"""The numbers of a run, each with its definition.

Times are seconds here and milliseconds in the result, as in vLLM's own benchmark. Names
and units follow `vllm bench serve --save-result` (0.23.0) where both know a quantity.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bundle.model import Slo, Strict
from scripts.benchmark.seconds import Seconds
from scripts.benchmark.summary import Summary, summary
from scripts.statistics import percentile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scripts.benchmark.outcome import Outcome

# Below this share of what was offered, requests pile up: latency measures the queue.
CARRIED = 0.95


class Metrics(Strict):
    """What a run measured, over its successful requests.

    duration: seconds from the first send to the last token. Throughputs are per second
    of it. achieved_rate: requests that ended per second, from the first end to the last:
    (completed - 1) / that time; unlike request_throughput it is not lowered by the wait
    for the last answers, so it can be held against an offered rate: drawn_rate, which is
    that of the planned send times from the first to the last. Of few Poisson arrivals it
    is not quite offered_rate, which is what was asked for.
    peak_output_tokens_per_s: most tokens in any window of one second;
    max_output_tokens_per_s: vLLM's form, most chunks in a second counted from the first
    send; max_concurrent_requests: most requests that touched such a second.
    request_goodput: requests that met the objectives for TTFT and TPOT, per second.
    total_cached_tokens: prompt tokens from the prefix cache, `None` if not all were told.
    ttft_from_schedule_ms: TTFT from the planned send time. chunk_gap_ms: gaps between
    chunks, which vLLM's benchmark calls ITL; itl_ms: per token.
    send lag: actual minus planned send time, milliseconds.
    What has a default was added later; a file from before lacks it.
    """

    duration: float
    completed: int
    failed: int
    total_input_tokens: int
    total_output_tokens: int
    total_cached_tokens: int | None = None
    offered_rate: float | None
    drawn_rate: float | None = None
    achieved_rate: float | None = None
    request_throughput: float
    request_goodput: float
    output_throughput: float
    total_token_throughput: float
    peak_output_tokens_per_s: int
    max_output_tokens_per_s: int
    max_concurrent_requests: int | None = None
    ttft_ms: Summary | None
    ttft_from_schedule_ms: Summary | None = None
    tpot_ms: Summary | None
    itl_ms: Summary | None
    chunk_gap_ms: Summary | None = None
    e2el_ms: Summary | None
    send_lag_p50_ms: float
    send_lag_p95_ms: float
    send_lag_max_ms: float

    @property
    def carried(self) -> float | None:
        """Achieved rate by the rate that was offered, `None` if there was none."""
        offered = self.offered_rate and (self.drawn_rate or self.offered_rate)
        return self.achieved_rate / offered if offered and self.achieved_rate else None


def measure(
    outcomes: Sequence[Outcome], rate: float, slo: Slo, *, planned: bool = True
) -> Metrics:
    """Compute the numbers of a run; at least one request must have succeeded.

    `rate` is what was offered, per second; infinite is noted as no rate. `planned`: each
    request had its time before the run, whatever the server did.
    """
    good = [outcome for outcome in outcomes if not outcome.error]
    first_send = min(outcome.sent for outcome in outcomes)
    duration = max(outcome.arrivals[-1].time for outcome in good) - first_send
    prompt_tokens = sum(prompt_length(outcome) for outcome in good)
    tokens = sum(outcome.tokens for outcome in good)
    lag = [1000 * (outcome.sent - outcome.scheduled) for outcome in outcomes]
    seconds = Seconds.of(good)
    return Metrics(
        duration=duration,
        completed=len(good),
        failed=len(outcomes) - len(good),
        total_input_tokens=prompt_tokens,
        total_output_tokens=tokens,
        total_cached_tokens=_all([outcome.cached_tokens for outcome in good]),
        offered_rate=None if math.isinf(rate) else rate,
        drawn_rate=_per_second([one.scheduled for one in outcomes]) if planned else None,
        achieved_rate=_per_second([outcome.arrivals[-1].time for outcome in good]),
        request_throughput=len(good) / duration,
        request_goodput=sum(meets(outcome, slo) for outcome in good) / duration,
        output_throughput=tokens / duration,
        total_token_throughput=(prompt_tokens + tokens) / duration,
        peak_output_tokens_per_s=peak_tokens(good),
        max_output_tokens_per_s=seconds.chunks,
        max_concurrent_requests=seconds.requests,
        ttft_ms=summary([outcome.ttft for outcome in good]),
        ttft_from_schedule_ms=summary([outcome.ttft_from_schedule for outcome in good]),
        tpot_ms=summary([tpot for outcome in good if (tpot := outcome.tpot) is not None]),
        itl_ms=summary([gap for outcome in good for gap in outcome.itl]),
        chunk_gap_ms=summary([gap for outcome in good for gap in outcome.chunk_gaps]),
        e2el_ms=summary([outcome.e2el for outcome in good]),
        send_lag_p50_ms=percentile(lag, 50),
        send_lag_p95_ms=percentile(lag, 95),
        send_lag_max_ms=max(lag),
    )


def prompt_length(outcome: Outcome) -> int:
    """Tokens of the prompt: as the server counts, else as planned, else unknown, 0."""
    told = outcome.prompt_tokens
    return (outcome.planned_prompt or 0) if told is None else told


def _all(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _per_second(times: Sequence[float]) -> float | None:
    span = max(times) - min(times)
    return (len(times) - 1) / span if span else None


def meets(outcome: Outcome, slo: Slo) -> bool:
    """Whether a request met the objectives; one token has no TPOT to miss."""
    return outcome.ttft <= slo.ttft_seconds and (outcome.tpot or 0) <= slo.tpot_seconds


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
