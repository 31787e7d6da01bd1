"""A line of the last hour as SVG inside the page."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH, HEIGHT = 240, 48
HOUR = 3600


def sparkline(
    points: Sequence[tuple[float, float]], now: float, objective: float, title: str
) -> str:
    """Draw `points` (Unix time, value), at least one, from an hour ago to `now`.

    The scale begins at 0, so that height has a meaning. An objective that is far above
    is not drawn: it would press the line flat.
    """
    highest = max(value for _, value in points)
    is_near = objective < 2 * highest
    top = 1.15 * max(highest, objective if is_near else 0)

    def place(time: float, value: float) -> str:
        x = WIDTH * (1 - (now - time) / HOUR)
        return f"{max(0.0, x):.1f},{HEIGHT * (1 - value / top):.1f}"

    line = " ".join(place(*point) for point in points)
    y = f"{HEIGHT * (1 - objective / top):.1f}"
    limit = f'<line class="limit" x1="0" x2="{WIDTH}" y1="{y}" y2="{y}"/>'
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img">'
        f"<title>{html.escape(title)}</title>"
        f'{limit if is_near else ""}<polyline points="{line}"/></svg>'
    )
