"""A document as one HTML file that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from scripts.report.document import Figure, Table

if TYPE_CHECKING:
    from scripts.report.document import Block, Document, Row, Section

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --line: #d5dae1;
  --soft: #f4f6f8; --good: #116329; --bad: #a40e26; --open: #7a4b00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e7ec; --paper: #14181d;
  --line: #39424e; --soft: #1c2229; --good: #5bd27c; --bad: #ff8a8a; --open: #e3b341; } }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; color: var(--ink);
  background: var(--paper); font: 1rem/1.5 system-ui, "Noto Sans CJK SC", sans-serif; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .6rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; white-space: pre-line; overflow-wrap: anywhere; min-width: 4rem; }
td:first-child { overflow-wrap: normal; }
th { background: var(--soft); }
.pass { color: var(--good); } .fail { color: var(--bad); } .open { color: var(--open); }
.pass, .fail, .open { font-weight: 600; }
figure { margin: 1.5rem 0; } figcaption { font-weight: 600; }
svg { max-width: 100%; height: auto; }
"""

# A cell that holds one of these is coloured; the word itself says the same.
_MARKS = {
    "pass": "pass",
    "right": "pass",
    "valid": "pass",
    "通过": "pass",
    "正确": "pass",
    "fail": "fail",
    "wrong": "fail",
    "未通过": "fail",
    "错误": "fail",
    "not run": "open",
    "not checked": "open",
    "truncated": "open",
    "未运行": "open",
    "未检查": "open",
    "截断": "open",
}


def html(document: Document) -> str:
    """Draw the whole document."""
    title = escape(document.title)
    body = "\n".join(map(_section, document.sections))
    return (
        f'<!doctype html>\n<html lang="{escape(document.language)}">\n<head>\n'
        '<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{title}</h1>\n<p>{escape(document.lead)}</p>\n{body}\n</body>\n</html>\n"
    )


def _section(section: Section) -> str:
    blocks = "\n".join(map(_block, section.blocks))
    return f"<section>\n<h2>{escape(section.title)}</h2>\n{blocks}\n</section>"


def _block(block: Block) -> str:
    if isinstance(block, Figure):
        caption = f"<figcaption>{escape(block.title)}</figcaption>"
        return f"<figure>{caption}{block.svg}</figure>"
    return _table(block) if isinstance(block, Table) else f"<p>{escape(block)}</p>"


def _table(table: Table) -> str:
    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in table.heads)
    rows = "\n".join(map(_row, table.rows))
    return (
        '<div class="wide"><table>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table></div>"
    )


def _row(cells: Row) -> str:
    return f"<tr>{''.join(map(_cell, cells))}</tr>"


def _cell(text: str) -> str:
    mark = _MARKS.get(text)
    return (
        f'<td class="{mark}">{escape(text)}</td>' if mark else f"<td>{escape(text)}</td>"
    )
