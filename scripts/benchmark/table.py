"""A benchmark result as rows of text, for the terminal and the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scripts.statistics import P99_NEEDS

if TYPE_CHECKING:
    from scripts.benchmark.metrics import Metrics, Summary
    from scripts.benchmark.result import Benchmark

Row = tuple[str, str]


def asked(result: Benchmark) -> str:
    """Say in one line what was put on the server."""
    ask = result.asked
    rate = "all at once" if ask.request_rate is None else f"rate {ask.request_rate:g}/s"
    return (
        f"{ask.input_len} tokens in, {ask.output_len} out, {rate}, "
        f"{ask.num_prompts} requests after {ask.warm_ups} warm-ups, seed {ask.seed}"
    )


def rows(result: Benchmark) -> list[Row]:
    """Name and value of each metric, in the order of the reference run's table."""
    metrics = result.metrics
    return [*_totals(metrics), *_latencies(metrics)]


def _totals(metrics: Metrics) -> list[Row]:
    return [
        ("duration", f"{metrics.duration:.2f} s"),
        ("successful / failed requests", f"{metrics.completed} / {metrics.failed}"),
        ("request throughput", f"{metrics.request_throughput:.2f} req/s"),
        ("goodput", f"{metrics.request_goodput:.2f} req/s"),
        ("output token throughput", f"{metrics.output_throughput:.2f} tok/s"),
        ("peak output token throughput", f"{metrics.peak_output_tokens_per_s} tok/s"),
        ("total token throughput", f"{metrics.total_token_throughput:.2f} tok/s"),
    ]


def _latencies(metrics: Metrics) -> list[Row]:
    named = {
        "TTFT": metrics.ttft_ms,
        "TPOT": metrics.tpot_ms,
        "ITL": metrics.itl_ms,
        "E2EL": metrics.e2el_ms,
    }
    return [
        (f"{name} mean / median / P90 / P99", latency(summary))
        for name, summary in named.items()
        if summary
    ]


def latency(summary: Summary) -> str:
    """Format a latency; a P99 of few samples is labelled."""
    few = "" if summary.p99_supported else f" (n={summary.count}, needs {P99_NEEDS})"
    return (
        f"{summary.mean:.2f} / {summary.median:.2f} / {summary.p90:.2f} / "
        f"{summary.p99:.2f} ms{few}"
    )


def lines(table: list[Row]) -> str:
    """Set rows in two columns."""
    width = max(len(name) for name, _ in table)
    return "\n".join(f"  {name:<{width}}  {value}" for name, value in table)
