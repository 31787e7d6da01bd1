"""A document as the two files that people read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scripts.output import write
from scripts.report.html import html
from scripts.report.markdown import markdown

if TYPE_CHECKING:
    from pathlib import Path

    from scripts.report.document import Document


def write_pages(document: Document, folder: Path, stem: str) -> tuple[Path, Path]:
    """Write `stem`.md and `stem`.html into `folder`; give their paths in this order."""
    return (
        write(folder / f"{stem}.md", markdown(document)),
        write(folder / f"{stem}.html", html(document)),
    )
