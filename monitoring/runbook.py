"""The runbook as a page, so that a link from a dashboard leads somewhere."""

from __future__ import annotations

import html
import re
from pathlib import Path

from bundle.errors import CouldNotRun, Problem

FILE = Path(__file__).resolve().parents[1] / "docs/runbook.md"

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Runbook</title>
<style>
:root {{ color-scheme: light dark; font-family: system-ui, sans-serif }}
body {{ max-width: 46rem; margin: 2rem auto; padding: 0 1rem; line-height: 1.5 }}
p {{ white-space: pre-line }}
:target {{ background: #fc06 }}
</style></head>
<body>{body}</body></html>
"""


def runbook(path: Path = FILE) -> str:
    """Give `docs/runbook.md` as HTML; raises `CouldNotRun` if it is not there."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        what = f"{path} cannot be read: {error.strerror}"
        raise CouldNotRun(Problem(what, "read it in the repository")) from error
    return _PAGE.format(body="\n".join(map(_block, text.strip().split("\n\n"))))


def _block(text: str) -> str:
    """A heading with its anchor, or a paragraph with its lines as they are."""
    shown = re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(text))
    shown = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", shown)  # it leads out of the page
    if heading := re.fullmatch(r"(#+) (.+)", shown):
        level, title = len(heading[1]), heading[2]
        return f'<h{level} id="{_anchor(title)}">{title}</h{level}>'
    return f"<p>{shown}</p>"


def _anchor(title: str) -> str:
    """Give the anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
