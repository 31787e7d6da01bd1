"""A benchmark result as rows of text, for the terminal and the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bundle.visible import visible
from scripts.benchmark.metrics import CARRIED
from scripts.statistics import P99_NEEDS

if TYPE_CHECKING:
    from scripts.benchmark.metrics import Metrics
    from scripts.benchmark.result import Asked, Benchmark
    from scripts.benchmark.summary import Summary

Row = tuple[str, str]


def asked(result: Benchmark) -> str:
    """Say in one line what was put on the server."""
    ask = result.asked
    each = f" x {ask.turns} turns" if ask.turns > 1 else ""
    return (
        f"{_shape(ask)}, {_rate(ask)}, {ask.num_prompts} requests{each} "
        f"after {ask.warm_ups} warm-ups, seed {ask.seed}"
    )


def _shape(ask: Asked) -> str:
    if ask.chats:
        return f"{ask.chats} chats, up to {ask.output_len} tokens out"
    spread = f" ±{ask.input_len_range:.0%}" if ask.input_len_range else ""
    prefix = f" after {ask.prefix_len} shared" if ask.prefix_len else ""
    return f"{ask.input_len}{spread} tokens in{prefix}, {ask.output_len} out"


def _rate(ask: Asked) -> str:
    if ask.concurrency:
        return f"{ask.concurrency} at a time"
    return "all at once" if ask.request_rate is None else f"rate {ask.request_rate:g}/s"


def rows(result: Benchmark) -> list[Row]:
    """Name and value of each metric, in the order of the reference run's table."""
    metrics = result.metrics
    return [*_totals(metrics), *_latencies(metrics), *_client(result)]


def _totals(metrics: Metrics) -> list[Row]:
    return [
        ("duration", f"{metrics.duration:.2f} s"),
        ("successful / failed requests", f"{metrics.completed} / {metrics.failed}"),
        ("request throughput", f"{metrics.request_throughput:.2f} req/s"),
        *_carried(metrics),
        ("goodput", f"{metrics.request_goodput:.2f} req/s"),
        ("output token throughput", f"{metrics.output_throughput:.2f} tok/s"),
        ("peak output token throughput", f"{metrics.peak_output_tokens_per_s} tok/s"),
        ("total token throughput", f"{metrics.total_token_throughput:.2f} tok/s"),
    ]


def _carried(metrics: Metrics) -> list[Row]:
    """Say what of the offered rate the server carried, where there was one."""
    if metrics.carried is None:
        return []
    offered = metrics.drawn_rate or metrics.offered_rate
    found = f"{offered:.2f} / {metrics.achieved_rate:.2f} req/s"
    if metrics.carried < CARRIED:
        found += ": overloaded, so the latencies are those of a growing queue"
    return [("offered / achieved rate", found)]


def _client(result: Benchmark) -> list[Row]:
    """Give the client's own cost."""
    metrics = result.metrics
    lag = (
        f"{metrics.send_lag_p50_ms:.1f} / {metrics.send_lag_p95_ms:.1f} / "
        f"{metrics.send_lag_max_ms:.1f} ms"
    )
    cost = f"{result.client_cpu_share:.1%} of a core"
    return [("send lag P50 / P95 / max", lag), ("client's own CPU", cost)]


def checks(result: Benchmark) -> list[Row]:
    """Check and finding of each, what the server lacks, and whether the run holds."""
    rows = [(one.check, f"{one.verdict}: {one.found}") for one in result.validity]
    rows += [("server lacks", name) for name in result.lacks]
    return [*rows, ("the run is", "valid" if result.valid else "INVALID")]


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
    """Set rows in two columns; a terminal obeys nothing that a server said."""
    width = max((len(name) for name, _ in table), default=0)
    return "\n".join(f"  {name:<{width}}  {visible(value)}" for name, value in table)
