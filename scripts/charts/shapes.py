"""The charts of a benchmark: from sequences of numbers to complete SVG elements."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from scripts.charts.frame import COLOURS, RIGHT, TOP, WIDTH, Axis, Frame, axis, log_axis

if TYPE_CHECKING:
    from collections.abc import Sequence

_BINS = 24


@dataclass(frozen=True)
class Series:
    """A named sequence of points (x, y)."""

    name: str
    points: tuple[tuple[float, float], ...]


def ecdf(title: str, label: str, samples: Sequence[float]) -> str:
    """Draw the share of samples up to each value: honest for few of them."""
    ordered = sorted(samples)
    frame = Frame(axis(label, ordered, zero=False), Axis("share", 0, 1))
    steps = []
    for rank, value in enumerate(ordered):
        steps += [(value, rank / len(ordered)), (value, (rank + 1) / len(ordered))]
    return frame.draw(title, [_line(frame, steps, COLOURS[0])])


def histogram(title: str, label: str, samples: Sequence[float]) -> str:
    """Draw how many samples lie in each of equally wide bins."""
    across = axis(label, samples, zero=False)
    width = (across.high - across.low) / _BINS
    counts = [0] * _BINS
    for sample in samples:
        counts[min(_BINS - 1, int((sample - across.low) / width))] += 1
    frame = Frame(across, axis("count", counts))
    bars = [
        _bar(frame, across.low + i * width, width, count)
        for i, count in enumerate(counts)
        if count
    ]
    return frame.draw(title, bars)


def lines(
    title: str,
    x_label: str,
    y_label: str,
    series: Sequence[Series],
    *,
    log: bool = False,
    mark: float | None = None,
) -> str:
    """Draw series as lines with dots; `mark` is an upright line at that x."""
    points = [point for one in series for point in one.points]
    scale = log_axis if log else axis
    frame = Frame(
        axis(x_label, [x for x, _ in points]), scale(y_label, [y for _, y in points])
    )
    shapes = [_upright(frame, mark)] if mark is not None else []
    for place, one in enumerate(series):
        colour = COLOURS[place % len(COLOURS)]
        shapes += [_line(frame, one.points, colour), *_dots(frame, one.points, colour)]
    return frame.draw(title, [*shapes, *_legend(series)])


def timeline(
    title: str, label: str, requests: Sequence[tuple[float, float, float]]
) -> str:
    """Draw each request as a bar: seconds of its sending, first and last token."""
    ends = [time for request in requests for time in request]
    frame = Frame(axis(label, ends), Axis("request", 0, len(requests)))
    shapes = []
    for row, (sent, first, last) in enumerate(requests):
        shapes.append(_span(frame, row, sent, first, COLOURS[1]))
        shapes.append(_span(frame, row, first, last, COLOURS[0]))
    return frame.draw(title, shapes)


def _line(frame: Frame, points: Sequence[tuple[float, float]], colour: str) -> str:
    path = " ".join(f"{x},{y}" for x, y in (frame.at(*point) for point in points))
    return f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{path}"/>'


def _dots(frame: Frame, points: Sequence[tuple[float, float]], colour: str) -> list[str]:
    places = [(point, frame.at(*point)) for point in points]
    return [
        f'<circle cx="{x}" cy="{y}" r="3.5" fill="{colour}">'
        f"<title>{point[0]:g}, {point[1]:g}</title></circle>"
        for point, (x, y) in places
    ]


def _bar(frame: Frame, start: float, width: float, count: float) -> str:
    left, top = frame.at(start, count)
    right, base = frame.at(start + width, 0)
    return (
        f'<rect x="{left}" y="{top}" width="{max(1, round(right - left - 1, 2))}" '
        f'height="{round(base - top, 2)}" fill="{COLOURS[0]}"/>'
    )


def _span(frame: Frame, row: int, start: float, end: float, colour: str) -> str:
    left, base = frame.at(start, row)
    right, top = frame.at(end, row + 1)
    width, height = round(right - left, 2), round((base - top) * 0.8, 2)
    return (
        f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="{colour}"/>'
    )


def _upright(frame: Frame, x: float) -> str:
    if not math.isfinite(x):
        raise ValueError(f"a mark at {x}")
    place, base = frame.at(x, frame.y.low)
    return f'<path class="mark" d="M{place} {base}V{TOP}"/>'


def _legend(series: Sequence[Series]) -> list[str]:
    if len(series) < 2:  # noqa: PLR2004 - one needs no name beside it
        return []
    return [
        f'<text x="{WIDTH - RIGHT}" y="{TOP + 12 + 16 * row}" text-anchor="end" '
        f'style="fill:{COLOURS[row % len(COLOURS)]}">{escape(one.name)}</text>'
        for row, one in enumerate(series)
    ]
