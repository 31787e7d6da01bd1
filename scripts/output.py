"""Where a command leaves its files: checked before it works, written whole."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

from bundle.errors import CouldNotRun, Problem

if TYPE_CHECKING:
    from pathlib import Path

_REMEDY = "name another folder with --out"


def prepare(folder: Path) -> None:
    """Make `folder`, and see that it takes files; raises `CouldNotRun` if not."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        what = f"results cannot be written to {folder}: {error.strerror}"
        raise CouldNotRun(Problem(what, _REMEDY)) from error


def write(path: Path, text: str) -> Path:
    """Write `text` to `path`, which is at every moment the old file or the new one."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        # A server may send half of a surrogate pair, which UTF-8 has no bytes for.
        partial.write_text(text, encoding="utf-8", errors="backslashreplace")
        partial.replace(path)
    except OSError as error:
        what = f"{path} cannot be written: {error.strerror}"
        raise CouldNotRun(Problem(what, _REMEDY)) from error
    return path
