"""The report as files: the JSON first, everything else drawn from what it says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pydantic import ValidationError

from bundle.errors import CouldNotRun, Problem
from scripts.output import write
from scripts.report.form import Report
from scripts.report.markdown import markdown

if TYPE_CHECKING:
    from pathlib import Path

JSON, MARKDOWN = "report.json", "report.md"


def save(report: Report, folder: Path) -> Path:
    """Write `report.json`, then `report.md` from it; give the path of the latter."""
    path = write(folder / JSON, report.model_dump_json(indent=2) + "\n")
    return draw(path)


def draw(path: Path) -> Path:
    """Draw `report.md` beside the report at `path`."""
    return write(path.with_name(MARKDOWN), markdown(read(path)))


def read(path: Path) -> Report:
    """Read a report; raises `CouldNotRun` if it is none, or of another version."""
    try:
        return Report.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        first = str(error).splitlines()[0]
        what = f"{path} is no report of this version: {first}"
        raise CouldNotRun(Problem(what, "make it with `make smoke`")) from error


def schema() -> str:
    """Give the JSON schema of `report.json`."""
    return json.dumps(Report.model_json_schema(mode="serialization"), indent=2) + "\n"
