"""Order the releases of drivers, CANN and Compose, which are not named by PEP 440.

Standard library of Python 3.9 only: a bare host is asked before anything is installed.
"""

from __future__ import annotations

import re

# A candidate comes before its release; a build (`.b218`, `-desktop.1`) is of its release.
_FORM = re.compile(
    r"v?([0-9]{1,6}(?:\.[0-9]{1,6})+)"
    r"(?:([.-]?(?:rc|alpha|beta|dev)[.-]?[0-9][\w.+-]*)|(?:\.b[0-9]|[+-])[\w.+-]*)?",
    re.ASCII | re.IGNORECASE,
)

Release = tuple[tuple[int, ...], bool]


def release(text: str) -> Release | None:
    """Give what orders it: its numbers, and whether it is no candidate.

    None for what is no version, such as `V100R001C25`.
    """
    found = _FORM.fullmatch(text.strip())
    if not found:
        return None
    numbers = [int(number) for number in found[1].split(".")]
    while numbers[-1:] == [0]:
        del numbers[-1]
    return tuple(numbers), found[2] is None


def first_release(text: str) -> tuple[str, Release | None]:
    """Give the first line that is a version, else the last line, with its release.

    Docker writes warnings above what it was asked for, or an error instead of it.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in lines:
        if known := release(line):
            return line, known
    return (lines or ["(nothing)"])[-1], None
