"""The report as files: the JSON first, everything else drawn from what it says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pydantic import ValidationError

from bundle.errors import CouldNotRun, Problem
from scripts.output import write
from scripts.report.content import document
from scripts.report.form import Report
from scripts.report.markdown import markdown
from scripts.report.pages import write_pages

if TYPE_CHECKING:
    from pathlib import Path

    from scripts.report.words import Language

STEM = "report"
JSON = f"{STEM}.json"


def save(report: Report, folder: Path, language: Language = "en") -> Path:
    """Write `report.json`, then what is drawn from it; give the path of `report.md`."""
    path = write(folder / JSON, report.model_dump_json(indent=2) + "\n")
    return draw(path, language)


def draw(path: Path, language: Language = "en") -> Path:
    """Draw `report.md` and `report.html` beside the report at `path`.

    Of a run on a card, the Markdown form is also written under the name by which
    vLLM-Ascend's evaluation reports are known.
    """
    report = read(path)
    drawn = document(report, language)
    if name := evaluation_name(report):
        write(path.with_name(name), markdown(drawn))
    return write_pages(drawn, path.parent, STEM)[0]


def evaluation_name(report: Report) -> str | None:
    """Name of the evaluation report; none for a run that was on no card."""
    served = report.environment.served_by
    if served is None or not served.on_card:
        return None
    return f"{report.environment.model.title}-vLLM-Ascend-Evaluation-Report.md"


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
