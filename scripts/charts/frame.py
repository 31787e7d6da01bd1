"""The frame of a chart: axes with round ticks, and where a value lies on them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 16, 48
_TICKS = 5
_FLAT = 1e-12  # a smaller range is none

# Colours that are told apart on white and on black, also by most who are colour-blind.
COLOURS = ("#3b7dd8", "#d9822b", "#2a9d6f", "#b14fc5")
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:currentColor}"
    ".grid{stroke:currentColor;stroke-opacity:.15}"
    ".axis{stroke:currentColor;stroke-opacity:.6}"
    ".mark{stroke:currentColor;stroke-dasharray:4 4;stroke-opacity:.7}"
)


@dataclass(frozen=True)
class Axis:
    """Values from `low` to `high`; `log` for a logarithmic scale of positive ones."""

    label: str
    low: float
    high: float
    log: bool = False

    def share(self, value: float) -> float:
        """Where `value` lies: 0 at `low`, 1 at `high`."""
        scale = math.log10 if self.log else float
        low, high = scale(self.low), scale(self.high)
        return (scale(value) - low) / (high - low) if high - low > _FLAT else 0.5

    def ticks(self) -> list[float]:
        """Round values within the axis, at most about six of them."""
        if self.log:
            first, last = (math.floor(math.log10(end)) for end in (self.low, self.high))
            marks = [
                m * 10.0**power for power in range(first, last + 1) for m in (1, 2, 5)
            ]
            return [mark for mark in marks if self.low <= mark <= self.high]
        step = round_step(self.high - self.low)
        count = math.floor(self.high / step + 1e-9)
        return [i * step for i in range(math.ceil(self.low / step - 1e-9), count + 1)]


def axis(label: str, values: Iterable[float], *, zero: bool = True) -> Axis:
    """Give a linear axis over `values`, from 0 unless `zero` is false.

    Raises:
        ValueError: a value is not finite, or there is none.
    """
    found = _finite(values)
    low = min([0.0, *found]) if zero else min(found)
    high = max(found)
    return Axis(label, low, high if high - low > _FLAT else low + 1)


def log_axis(label: str, values: Iterable[float]) -> Axis:
    """Give a logarithmic axis over positive `values`; raises as `axis` does."""
    found = _finite(values)
    if min(found) <= 0:
        raise ValueError(f"{min(found)} on a logarithmic axis")
    return Axis(label, min(found) / 1.1, max(found) * 1.1, log=True)


def round_step(span: float) -> float:
    """Give the step of 1, 2 or 5 times a power of ten that makes about five of `span`."""
    rough = span / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))


@dataclass(frozen=True)
class Frame:
    """Two axes; gives pixels for values, and the drawing of both."""

    x: Axis
    y: Axis

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Give the pixel of a point, from the top left corner."""
        across = LEFT + self.x.share(x) * (WIDTH - LEFT - RIGHT)
        down = HEIGHT - BOTTOM - self.y.share(y) * (HEIGHT - TOP - BOTTOM)
        return round(across, 2), round(down, 2)

    def draw(self, title: str, shapes: Sequence[str]) -> str:
        """Give the whole SVG element; `title` is what a screen reader says."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'role="img"><title>{escape(title)}</title><style>{_STYLE}</style>'
            f"{''.join(self._across())}{''.join(self._down())}{''.join(shapes)}</svg>"
        )

    def _across(self) -> Iterable[str]:
        base = HEIGHT - BOTTOM
        yield f'<path class="axis" d="M{LEFT} {base}H{WIDTH - RIGHT}"/>'
        for tick in self.x.ticks():
            yield _text(self.at(tick, self.y.low)[0], base + 18, f"{tick:g}", "middle")
        yield _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, self.x.label, "middle")

    def _down(self) -> Iterable[str]:
        for tick in self.y.ticks():
            place = self.at(self.x.low, tick)[1]
            yield f'<path class="grid" d="M{LEFT} {place}H{WIDTH - RIGHT}"/>'
            yield _text(LEFT - 8, place + 4, f"{tick:g}", "end")
        middle = (TOP + HEIGHT - BOTTOM) / 2
        yield (
            f'<text transform="translate(14 {middle}) rotate(-90)" text-anchor="middle">'
            f"{escape(self.y.label)}</text>"
        )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


def _finite(values: Iterable[float]) -> list[float]:
    found = list(values)
    if not found or not all(map(math.isfinite, found)):
        raise ValueError("a chart needs finite numbers, at least one")
    return found
