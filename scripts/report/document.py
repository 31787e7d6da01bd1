"""A report as plain values, between what was found and the form it is drawn in."""

from __future__ import annotations

from dataclasses import dataclass

Row = tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """Column heads, and rows of as many cells."""

    heads: Row
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Figure:
    """A chart as a complete SVG element, which only the HTML form shows."""

    title: str
    svg: str


Block = str | Table | Figure


@dataclass(frozen=True)
class Section:
    """A heading with what stands below it."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Document:
    """A whole report; `language` is an HTML language code."""

    title: str
    lead: str
    sections: tuple[Section, ...]
    language: str = "en"
