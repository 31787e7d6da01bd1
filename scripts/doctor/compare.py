"""What differs between two doctor's reports: a host that works and one that does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from bundle.errors import CouldNotRun, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def compare(first: str, second: str) -> list[str]:
    """Give a block for each check whose results differ between two files of `--json`.

    Raises:
        CouldNotRun: a file is not there or is no such report.
    """
    before, after = _read(first), _read(second)
    return list(_differences(before, after, (first, second)))


def _differences(
    before: Mapping[str, list[str]],
    after: Mapping[str, list[str]],
    names: tuple[str, str],
) -> Iterator[str]:
    for check in dict.fromkeys([*before, *after]):
        if before.get(check) != after.get(check):
            lines = [check]
            for name, found in ((names[0], before), (names[1], after)):
                said = found.get(check, ["(not checked)"])
                lines += [f"  {name}: {one}" for one in said]
            yield "\n".join(lines)


def _read(name: str) -> dict[str, list[str]]:
    """Give what each check said, by its id."""
    found: dict[str, list[str]] = {}
    try:
        for one in json.loads(Path(name).read_text(encoding="utf-8"))["results"]:
            found.setdefault(str(one["id"]), []).append(f"{one['level']}: {one['found']}")
    except OSError as error:
        what = f"{name} cannot be read: {error.strerror}"
        raise CouldNotRun(Problem(what, "name two files")) from error
    except (ValueError, TypeError, KeyError) as error:
        what = f"{name} is no report of the doctor"
        remedy = "make one by `python -m scripts.doctor --json > FILE` on each host"
        raise CouldNotRun(Problem(what, remedy)) from error
    return found
