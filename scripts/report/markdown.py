"""A document as Markdown; a figure is only in the HTML form."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scripts.report.document import Figure, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scripts.report.document import Block, Document, Row, Section


def markdown(document: Document) -> str:
    """Draw the whole document."""
    parts = [f"# {document.title}", document.lead]
    parts += [part for section in document.sections for part in _section(section)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _section(section: Section) -> Iterator[str]:
    yield f"## {section.title}"
    yield from (_block(block) for block in section.blocks)


def _block(block: Block) -> str:
    if isinstance(block, Figure):
        return ""
    return _table(block) if isinstance(block, Table) else escape(block)


def _table(table: Table) -> str:
    rule = f"| {' | '.join(['---'] * len(table.heads))} |"
    return "\n".join([_row(table.heads), rule, *map(_row, table.rows)])


def _row(cells: Row) -> str:
    return f"| {' | '.join('<br>'.join(escape(c).splitlines()) for c in cells)} |"


def escape(text: str) -> str:
    """Keep a model's words from being read as Markdown, HTML or the end of a cell."""
    return re.sub(r"([\\`*_\[\]<>|#~$])", r"\\\1", text)
