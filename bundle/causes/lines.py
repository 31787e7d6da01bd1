"""The lines of a log without their noise."""

from __future__ import annotations

import re

_LONGEST = 300  # characters of a line that are shown

_COLOUR = re.compile(r"\x1b\[[\d;]*[A-Za-z]")
# "(EngineCore_DP0 pid=71)", "[rank0]:", "ERROR 12-01 10:38:00 [core.py:1195]", a time,
# "server-1  |" of Compose.
_PREFIX = re.compile(
    r"""^(?:\s*(?:
      \([^()]*\bpid=\d+\)
      | [\w-]+-\d+\s+\|
      | \[rank\d+\]:
      | [A-Z]+[ ]\d\d-\d\d[ ]\d\d:\d\d:\d\d[ ]\[[^\]]*\]
      | \d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]*(?:Z|[+-]\d\d:?\d\d)?
      | \[(?:ERROR|error)\]:? | (?:ERROR|error): | ERROR(?=\s)
    )\s*)+""",
    re.VERBOSE,
)
_PROCESS = re.compile(r"\(\w+ pid=\d+\)")
_KEPT = "KV cache memory: -"  # though of level INFO


def spoken(log: str) -> str:
    """Leave out colours and lines of level INFO: most of a log, and what users say."""
    text = _COLOUR.sub("", log) if "\x1b" in log else log
    return "\n".join(
        _without_info(line) if "INFO" in line else line for line in text.splitlines()
    )


def _without_info(line: str) -> str:
    """Give what of a line is not of level INFO: all, nothing, or another's end."""
    start = line.find("INFO")
    before, after = line[:start], line[start + 4 : start + 5]
    is_level = before[-1:] in ("", " ", "[") and after in ("", " ", ":", "]")
    later = any(word in before for word in ("rror", "RROR", "WARN"))
    if not is_level or later or _KEPT in line:
        return line
    other = line.find(" pid=", start)  # two processes wrote at once
    second = line.rfind("(", start, max(start, other))
    return line[second:] if second >= 0 else ""


def clean(line: str) -> str:
    """Give a line without time, process and level, and not too long."""
    start = line.rfind("(", 0, max(0, line.rfind(" pid=")))  # behind a bar, say
    said = line[start:] if start >= 0 and _PROCESS.match(line, start) else line
    return _PREFIX.sub("", said.strip())[:_LONGEST]
