"""What differs between two doctor's reports: a host that works and one that does not."""

from __future__ import annotations

import json
from dataclasses import dataclass

from bundle.errors import CouldNotRun, Problem
from bundle.visible import visible
from scripts.doctor.files import read

# What these find is another figure at every moment: free memory and disk, processes.
MOVING = ("host-memory", "disk", "memory", "hbm", "npu-holders")
_NOT_CHECKED = ["(not checked)"]


@dataclass(frozen=True)
class Difference:
    """What one check said in each of the two files."""

    id: str
    first: list[str]
    second: list[str]

    def as_text(self, first: str, second: str) -> str:
        """Give the check, and a line for each thing said in the files of these names."""
        said = [(first, one) for one in self.first]
        said += [(second, one) for one in self.second]
        return "\n".join([visible(self.id), *(visible(f"  {a}: {b}") for a, b in said)])


def compare(first: str, second: str) -> list[Difference]:
    """Give each check whose results differ between two files of `--json`.

    Of a check in `MOVING` only the level counts.

    Raises:
        CouldNotRun: a file is not there or is no such report.
    """
    before, after = _read(first), _read(second)
    return [
        Difference(check, before.get(check, _NOT_CHECKED), after.get(check, _NOT_CHECKED))
        for check in dict.fromkeys([*before, *after])
        if _compared(check, before) != _compared(check, after)
    ]


def _compared(check: str, found: dict[str, list[str]]) -> list[str]:
    said = found.get(check, _NOT_CHECKED)
    return [one.partition(":")[0] for one in said] if check in MOVING else said


def _read(name: str) -> dict[str, list[str]]:
    """Give what each check said, by its id."""
    found: dict[str, list[str]] = {}
    text = read(name, "name two files")
    try:
        for one in json.loads(text)["results"]:
            found.setdefault(str(one["id"]), []).append(f"{one['level']}: {one['found']}")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        what = f"{name} is no report of the doctor"
        remedy = "make one by `python -m scripts.doctor --json > FILE` on each host"
        raise CouldNotRun(Problem(what, remedy)) from error
    return found
