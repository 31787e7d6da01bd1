"""A sweep as a section: the points, the knee, and what is traded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scripts.benchmark.sweep import good_share, pareto
from scripts.charts.shapes import Series, lines
from scripts.report.document import Figure, Section, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scripts.benchmark.result import Benchmark
    from scripts.benchmark.summary import Summary
    from scripts.benchmark.sweep import Sweep
    from scripts.report.words import Say

TITLES = (
    "Throughput by offered rate",
    "Latency by offered rate",
    "Throughput against TPOT, Pareto points",
)


def sweep_section(sweep: Sweep, word: Say) -> Section:
    """Give the curve of a server, its knee, and what it trades."""
    best = pareto(sweep.points)
    rows = tuple(_point(point, word, mark=point in best) for point in sweep.points)
    heads = (
        *("offered", "achieved", "output tok/s"),
        *("TTFT P50 / P90, ms", "TPOT P50 / P90, ms", "within objectives", "Pareto"),
        "the run is",
    )
    knee = word("none") if sweep.knee is None else f"{sweep.knee:g}/s"
    cut = (f"{word('ended early')}: {sweep.ended}",) if sweep.ended else ()
    return Section(
        word("Rate sweep"),
        (
            f"{word('Knee')}: {knee}.",
            *cut,
            Table(tuple(map(word, heads)), rows),
            *_sweep_charts(sweep, best, word),
        ),
    )


def _point(point: Benchmark, word: Say, *, mark: bool) -> tuple[str, ...]:
    metrics = point.metrics
    offered, achieved = metrics.offered_rate, metrics.achieved_rate
    return (
        word("all at once") if offered is None else f"{offered:.3g}/s",
        "" if achieved is None else f"{achieved:.3g}/s",
        f"{metrics.output_throughput:.1f}",
        _two(metrics.ttft_ms),
        _two(metrics.tpot_ms),
        f"{good_share(point):.0%}",
        "*" if mark else "",
        word("valid" if point.valid else "invalid"),
    )


def _two(summary: Summary | None) -> str:
    return f"{summary.median:.1f} / {summary.p90:.1f}" if summary else ""


def _sweep_charts(sweep: Sweep, best: Sequence[Benchmark], word: Say) -> list[Figure]:
    rated = [p for p in sweep.points if p.metrics.offered_rate is not None]
    if len(rated) < 2:  # noqa: PLR2004 - one point is no curve
        return []
    x = word("offered requests per second")
    titles = list(map(word, TITLES))
    latency = [
        Series(name, tuple(_latency(rated, name))) for name in ("TTFT P90", "TPOT P90")
    ]
    curve = tuple((_rate(p), p.metrics.output_throughput) for p in rated)
    trade = sorted(
        (p.metrics.tpot_ms.median, p.metrics.output_throughput)
        for p in best
        if p.metrics.tpot_ms
    )
    drawn = [
        Figure(
            titles[0],
            lines(titles[0], x, "tok/s", [Series("tok/s", curve)], mark=sweep.knee),
        ),
        Figure(titles[1], lines(titles[1], x, "ms", latency, log=True, mark=sweep.knee)),
    ]
    if trade:  # answers of one token have no TPOT
        points = Series("", tuple(trade))
        drawn.append(
            Figure(titles[2], lines(titles[2], "TPOT P50, ms", "tok/s", [points]))
        )
    return drawn


def _latency(points: Sequence[Benchmark], name: str) -> list[tuple[float, float]]:
    field = f"{name.split(maxsplit=1)[0].lower()}_ms"
    found = [(_rate(point), getattr(point.metrics, field)) for point in points]
    # Tokens that all came in one piece have a TPOT of 0, which has no logarithm.
    return [(rate, summary.p90) for rate, summary in found if summary and summary.p90 > 0]


def _rate(point: Benchmark) -> float:
    return point.metrics.offered_rate or 0.0
