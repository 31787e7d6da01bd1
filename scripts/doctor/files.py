"""Files that a user names: logs and reports, from whatever system wrote them."""

from __future__ import annotations

import codecs
import stat
from pathlib import Path

from bundle.errors import CouldNotRun, Problem

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read(name: str, remedy: str) -> str:
    """Give the text of a plain file: of UTF-16 as Windows writes it, else of UTF-8.

    Bytes that are none become U+FFFD.

    Raises:
        CouldNotRun: it cannot be read, or is a pipe or a device, which might never end.
    """
    path = Path(name)
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            what = f"{name} cannot be read: it is no plain file"
            raise CouldNotRun(Problem(what, remedy))
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        what = f"{name} cannot be read: {reason}"
        raise CouldNotRun(Problem(what, remedy)) from error
    return _decoded(content)


def _decoded(content: bytes) -> str:
    if content.startswith(_UTF_16):
        return content.decode("utf-16", errors="replace")
    if content[1:200:2].count(0) > len(content[:200]) // 4:  # UTF-16 without its mark
        return content.decode("utf-16-le", errors="replace")
    return content.decode("utf-8-sig", errors="replace")
