"""How numbers, times and tables are written on the status page."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from monitoring.page.words import Words

NONE = "\N{EN DASH}"  # not known: never a zero


def table(heads: tuple[str, ...], rows: list[list[str]], look: str = "") -> str:
    """Give a table that scrolls sideways where it must; cells come with their tag."""
    head = "".join(f"<th>{word}" for word in heads)
    body = "".join(f"<tr>{''.join(row)}" for row in rows)
    return f'<div class="wide"><table class="{look}"><tr>{head}{body}</table></div>'


def number(value: str, unit: str = "", color: str = "") -> str:
    """Give a number that is read from afar."""
    return f'<span class="number {color}">{value} <small>{unit}</small></span>'


def numbers(*each: str) -> str:
    """Give numbers side by side, or below one another where there is no room."""
    return f'<div class="numbers">{"".join(each)}</div>'


def ms(seconds: float) -> str:
    """Give seconds as milliseconds, three digits that mean something."""
    return f"{1000 * seconds:.{0 if seconds >= 0.1 else 1}f} ms"  # noqa: PLR2004


def count(value: float | None) -> str:
    """Give a whole number, or that it is not known."""
    return NONE if value is None else f"{value:.0f}"


def clock(time: float) -> str:
    """Give a Unix time as a date that is the same for every reader."""
    return dt.datetime.fromtimestamp(time, dt.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def duration(seconds: float, words: Words, *, ago: bool = False) -> str:
    """Give seconds in the largest unit that fits."""
    sizes = (1, 60, 3600, 86400)
    index = max(i for i, size in enumerate(sizes) if seconds >= size or i == 0)
    text = f"{max(0.0, seconds) / sizes[index]:.0f} {words.units[index]}"
    return words.ago.format(text) if ago else text
