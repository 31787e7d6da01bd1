"""The few kinds of panel that the dashboards use: lines, a number, a table of facts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

Json = dict[str, Any]


@dataclass(frozen=True)
class Query:
    """An expression and the name of its lines; `now` asks for the last value only."""

    expr: str
    legend: str = ""
    now: bool = False


@dataclass(frozen=True)
class Panel:
    """A panel without its place; `options` and `defaults` are Grafana's own."""

    kind: str
    title: str
    description: str
    unit: str
    queries: tuple[Query, ...]
    nothing: str = "no data"
    options: Json = field(default_factory=dict)
    defaults: Json = field(default_factory=dict)
    overrides: tuple[Json, ...] = ()


def graph(
    title: str, description: str, unit: str, *queries: Query, nothing: str = "no traffic"
) -> Panel:
    """Lines over time."""
    return Panel(
        "timeseries",
        title,
        description,
        unit,
        queries,
        nothing,
        {"legend": {"displayMode": "list", "placement": "bottom"}},
        {"custom": {"lineWidth": 2, "fillOpacity": 8, "showPoints": "never"}, "min": 0},
        (_line("objective", "red"), _line("coarse", "gray")),
    )


def tile(
    title: str,
    description: str,
    unit: str,
    expr: str,
    *,
    nothing: str = "no traffic",
    good: Sequence[tuple[float | None, str]] = ((None, "text"),),
    words: dict[str, str] | None = None,
) -> Panel:
    """One number now; `good` are its colours by lower bound, `words` stand for values."""
    options = {value: {"text": text} for value, text in (words or {}).items()}
    return Panel(
        "stat",
        title,
        description,
        unit,
        (Query(expr, now=True),),
        nothing,
        {"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "value"},
        {
            "mappings": [{"type": "value", "options": options}] if options else [],
            "thresholds": {
                "mode": "absolute",
                "steps": [{"value": low, "color": color} for low, color in good],
            },
        },
    )


def facts(title: str, description: str, *exprs: str) -> Panel:
    """Labels of info metrics as a table."""
    return Panel(
        "table",
        title,
        description,
        "none",
        tuple(Query(expr, now=True) for expr in exprs),
        "not there",
        {"showHeader": True},
    )


def _line(word: str, color: str) -> Json:
    """Draw what has `word` in its name dashed: a line to compare with."""
    return {
        "matcher": {"id": "byRegexp", "options": f".*{word}.*"},
        "properties": [
            {"id": "color", "value": {"mode": "fixed", "fixedColor": color}},
            {"id": "custom.lineStyle", "value": {"fill": "dash", "dash": [8, 8]}},
            {"id": "custom.fillOpacity", "value": 0},
        ],
    }
