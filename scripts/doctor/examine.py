"""Run the checks and tell what they found, to people and to machines."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from bundle.checks.finding import FAILURE, OK, UNKNOWN, WARNING, Check, Finding
from bundle.checks.table import run_all
from bundle.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bundle.checks.world import World

SECONDS = 5  # of each check; all of them begin at once
_COLOURS = {OK: "32", WARNING: "33", FAILURE: "31", UNKNOWN: "35"}


@dataclass(frozen=True)
class Result:
    """A finding with the id of its check and the page that explains it."""

    id: str
    level: str
    found: str
    remedy: str
    page: str


def examine(checks: Sequence[Check], world: World) -> list[Result]:
    """Run `checks` on `world`, in their order."""
    return [result(check, found) for check, found in run_all(checks, world, SECONDS)]


def result(check: Check, finding: Finding) -> Result:
    """Put a check and its finding together."""
    return Result(check.id, finding.level, finding.found, finding.remedy, check.page)


def is_good(results: Sequence[Result]) -> bool:
    """Whether nothing failed; a warning is no failure."""
    return all(one.level != FAILURE for one in results)


def as_text(results: Sequence[Result], *, colour: bool) -> str:
    """Give a line for each result, and remedy and page under each that is not ok."""
    width = max(len(one.id) for one in results)
    lines = []
    for one in results:
        level = f"{one.level:14}"
        if colour:
            level = f"\033[{_COLOURS[one.level]}m{level}\033[0m"
        lines.append(f"{level}{one.id:{width}}  {visible(one.found)}")
        if one.level != OK:
            lines += [
                f"{'':14}  fix: {visible(one.remedy)}",
                f"{'':14}  more: {one.page}",
            ]
    return "\n".join([*lines, _count(results)])


def as_json(results: Sequence[Result]) -> str:
    """Give the results for machines, with the time in seconds since 1970."""
    found = {"time": time.time(), "results": [asdict(one) for one in results]}
    return json.dumps(found, indent=2, ensure_ascii=False)


def _count(results: Sequence[Result]) -> str:
    levels = [one.level for one in results]
    counts = [
        f"{levels.count(level)} {level}" for level in (OK, WARNING, FAILURE, UNKNOWN)
    ]
    return ", ".join(counts)
