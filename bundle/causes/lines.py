"""The lines of a log without their noise."""

from __future__ import annotations

import re
from collections import deque

from bundle.visible import visible

_LONGEST = 300  # characters of a line that are shown
_WARNINGS = 20_000  # lines: of a flood of them the last ones count
_READ = 4000  # characters of a line that are looked at for what stands before it

_COLOUR = re.compile(r"\x1b\[[\d;]*[A-Za-z]")
_TIME = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]*(?:Z|\s?[+-]\d\d:?\d\d)?"
# What collectors, ranks and processes write before a line: "server-1  |" of Compose,
# "[pod/server-0/server]" of kubectl, "stdout F" behind a time of containerd, journald,
# Docker's own JSON, "(EngineCore_DP0 pid=71)", "[rank0]:", "vllm.engine -" of logging.
_FROM = rf"""
    \([^()]{{0,200}}\bpid=\d+[^()]{{0,200}}\)
  | (?:[\w.-]{{0,100}}(?:[ ]{{2,}}|[-_]\d+[ ]*))?\|(?=\s)
  | \[pod/[^\]\s]*\]
  | \[rank\d+\]:
  | \[?{_TIME}\]?(?:\s+std(?:out|err)\s+[FP](?=\s))?(?:\s+[\w.-]+\s+[\w./-]+\[\d+\]:)?
  | [A-Z][a-z][a-z]\s+\d+\s\d\d:\d\d:\d\d\s+[\w.-]+\s+[\w./-]+\[\d+\]:
  | \{{"log":\s?"
  | (?:-[ ])?(?:[\w.]{{1,100}}[ ])?-[ ](?=[A-Z]+[ ]-[ ])
"""
_LEVEL = r"[A-Z]+[ ]\d\d-\d\d[ ]\d\d:\d\d:\d\d[ ]\[[^\]]*\]"
_PREFIX = re.compile(
    rf"""^(?:\s*(?:{_FROM}
      | {_LEVEL} | [A-Z]+[ ]-[ ] | (?:ERROR|CRITICAL):[\w.]+:(?=\S)
      | \[(?:ERROR|error)\]:? | (?:ERROR|error): | (?:ERROR|CRITICAL)(?=\s)
    ))*\s*""",
    re.VERBOSE,
)
_QUIET = re.compile(
    rf"""(?:\s*(?:{_FROM}))*\s*(?:
      \[?(?:INFO|DEBUG|EVENT)(?=[\s:\]]|$) | \[?I\d{{4}}[ ]\d\d:
      # supervisord's WARN may be a death.
      | (\[?WARN(?:ING)?(?=[\s:\]]|$)(?![ ]exited) | \[?W\d{{4}}[ ]\d\d:
        | \S+:\d+:[ ]\w*Warning: | ERROR:[ ]ld\.so:.*[ ]ignored)
    )""",
    re.VERBOSE,
)
# The most common head: a log may have a million such lines.
_COMMON = re.compile(r"(?:\(\w+ pid=\d+\) )?(?:INFO|DEBUG|(WARNING)) \d\d-\d\d ")
_MAY_BE_QUIET = ("INFO", "WARN", "DEBUG", "EVENT", ".cpp:", ".cc:", "ning: ", "ld.so")
_PROCESS = re.compile(r"\(\w+ pid=\d+\)")
_SECOND = re.compile(rf"(?<=[^\s'\"`]) ?(?=\(\w+ pid=\d+\) {_LEVEL})")
_KEPT = "KV cache memory: -"  # though of level INFO
_END_OF_JSON = re.compile(r'(?:\\n)?","stream":.*')


def spoken(log: str) -> tuple[str, str]:
    """Give the lines that may tell of a death, and those of level WARNING.

    Lines of level INFO and below are left out: most of a log, and what users say.
    """
    text = _COLOUR.sub("", log) if "\x1b" in log else log
    words = [word for word in _MAY_BE_QUIET if word in text]
    said: list[str] = []
    warned: deque[str] = deque(maxlen=_WARNINGS)
    if not words:
        return text.replace("\r", "\n"), ""
    for line in text.splitlines():
        common = _COMMON.match(line)
        if not common and not any([word in line for word in words]):  # noqa: C419 - half the time
            said.append(line)
            continue
        for one in _pieces(line):
            level = common if common and line.startswith(one) else _QUIET.match(one)
            if not level or _KEPT in one:
                said.append(one)
            elif level[1]:
                warned.append(one)
    return "\n".join(said), "\n".join(warned)


def _pieces(line: str) -> list[str]:
    """Take apart what two processes wrote at once, or one behind a progress bar."""
    if line.count(" pid=") > ("|" not in line):
        return _SECOND.split(line)
    return [line]


def clean(line: str) -> str:
    """Give a line without time, process and level, not too long, all of it visible."""
    start = line.rfind("(", 0, max(0, line.rfind(" pid=")))  # behind a bar, say
    said = line[start:] if start >= 0 and _PROCESS.match(line, start) else line
    said = _END_OF_JSON.sub("", _PREFIX.sub("", said[:_READ].strip(), count=1))
    return visible(said[:_LONGEST])
