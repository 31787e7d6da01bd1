"""A run as a document: tables, the reference beside them, and charts."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from scripts.benchmark import table
from scripts.charts.shapes import ecdf, histogram, timeline
from scripts.report.document import Document, Figure, Section, Table
from scripts.report.words import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scripts.benchmark.beside import Beside
    from scripts.benchmark.record import Record
    from scripts.benchmark.result import Benchmark
    from scripts.report.words import Language, Say

_MS = 1000
TITLES = (
    "TTFT, cumulative share of requests",
    "TPOT, requests by bin",
    "Requests over time, before and after the first token",
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
    titles = list(map(word, TITLES))
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


def _first(one: Record) -> float:
    return one.first_token or 0.0


def _last(one: Record) -> float:
    return one.last_token or 0.0
