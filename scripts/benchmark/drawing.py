"""A run and a sweep as a document: tables, the reference beside them, and charts."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from scripts.benchmark import table
from scripts.benchmark.sweep import good_share, pareto
from scripts.charts.shapes import Series, ecdf, histogram, lines, scatter, timeline
from scripts.report.document import Document, Figure, Section, Table
from scripts.report.words import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scripts.benchmark.beside import Beside
    from scripts.benchmark.metrics import Summary
    from scripts.benchmark.record import Record
    from scripts.benchmark.result import Benchmark
    from scripts.benchmark.sweep import Sweep
    from scripts.report.words import Language, Say

_MS = 1000
TITLES = (
    "TTFT, cumulative share of requests",
    "TPOT, requests by bin",
    "Requests over time, before and after the first token",
    "Throughput by offered rate",
    "Latency by offered rate",
    "Throughput against TPOT, Pareto points",
)


def document(
    result: Benchmark, sections: Sequence[Section], language: Language = "en"
) -> Document:
    """Give the whole report of a run, with further `sections` behind it."""
    word = say(language)
    verdict = word("valid" if result.valid else "invalid")
    return Document(
        title=f"{word('Benchmark')}, {result.asked.model}: {verdict}",
        lead=_date(result),
        sections=(run_section(result, word), *sections),
        language=language,
    )


def _date(result: Benchmark) -> str:
    moment = dt.datetime.fromtimestamp(result.started, dt.timezone.utc)
    return moment.isoformat(timespec="seconds")


def run_section(result: Benchmark, word: Say) -> Section:
    """Give the numbers of one run, what they rest on, and its charts."""
    return Section(
        word("Benchmark"),
        (
            f"{table.asked(result)}.",
            Table((word("metric"), word("value")), _named(table.rows(result), word)),
            Table((word("check"), word("found")), _named(table.checks(result), word)),
            *charts(result.requests, word),
        ),
    )


def _named(rows: Sequence[table.Row], word: Say) -> tuple[table.Row, ...]:
    return tuple((word(name), value) for name, value in rows)


def charts(requests: Sequence[Record], word: Say) -> list[Figure]:
    """Draw the requests of a run that came through; none of them gives no chart."""
    good = [one for one in requests if not one.error and one.first_token is not None]
    if not good:
        return []
    ttft = [_MS * (_first(one) - one.sent) for one in good]
    tpot = [
        _MS * (_last(one) - _first(one)) / (one.output_tokens - 1)
        for one in good
        if one.output_tokens > 1
    ]
    spans = [(one.sent, _first(one), _last(one)) for one in good]
    titles = list(map(word, TITLES[:3]))
    drawn = [
        Figure(titles[0], ecdf(titles[0], "TTFT, ms", ttft)),
        Figure(titles[2], timeline(titles[2], "s", spans)),
    ]
    if tpot:
        drawn.insert(1, Figure(titles[1], histogram(titles[1], "TPOT, ms", tpot)))
    return drawn


def baseline_section(found: Beside, word: Say) -> Section:
    """Set ours beside a baseline's."""
    cells = tuple(
        (
            one.metric,
            f"{one.value:.2f}",
            f"{one.baseline:.2f}",
            f"{one.ratio:.3f}",
            word(one.verdict),
        )
        for one in found.rows
    )
    heads = ("metric", "value", "baseline", "ratio", "verdict")
    return Section(
        word("Beside the baseline"),
        (f"{found.title}.", Table(tuple(map(word, heads)), cells)),
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
    titles = list(map(word, TITLES[3:]))
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
            Figure(titles[2], scatter(titles[2], "TPOT P50, ms", "tok/s", points))
        )
    return drawn


def _latency(points: Sequence[Benchmark], name: str) -> list[tuple[float, float]]:
    field = f"{name.split(maxsplit=1)[0].lower()}_ms"
    found = [(_rate(point), getattr(point.metrics, field)) for point in points]
    # Tokens that all came in one piece have a TPOT of 0, which has no logarithm.
    return [(rate, summary.p90) for rate, summary in found if summary and summary.p90 > 0]


def _rate(point: Benchmark) -> float:
    return point.metrics.offered_rate or 0.0


def _first(one: Record) -> float:
    return one.first_token or 0.0


def _last(one: Record) -> float:
    return one.last_token or 0.0
