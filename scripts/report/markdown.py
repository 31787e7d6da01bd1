"""`report.md`, drawn from `report.json` alone: the same report gives the same text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scripts.benchmark import table
from scripts.questions import summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scripts.benchmark.result import Benchmark
    from scripts.questions import Score
    from scripts.report.form import Check, Environment, NotRun, Report


def markdown(report: Report) -> str:
    """Draw the whole report; the verdict comes first."""
    parts = [
        f"# {report.environment.model.title}: {report.verdict}",
        f"Suite {report.suite}, made {report.made_at}.",
        _verdicts(report.checks),
        _environment(report.environment),
        _benchmark(report.benchmark),
        _questions(report.questions),
        _not_run(report.not_run),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _verdicts(checks: Sequence[Check]) -> str:
    rows = [(one.name, one.verdict, one.found, one.required) for one in checks]
    return "## Verdict\n\n" + _table(("check", "verdict", "found", "required"), rows)


def _environment(environment: Environment) -> str:
    server, machine, model = environment.server, environment.machine, environment.model
    use = "allowed" if model.licence.commercial_use else "not allowed"
    rows = [
        ("server", server.url),
        ("engine version", server.version or "the server does not tell"),
        ("served models", ", ".join(server.models)),
        ("model", model.title),
        ("source", model.source),
        ("licence", f"{model.licence.name}, commercial use {use}, {model.licence.url}"),
        ("machine that checked", f"{machine.platform}, Python {machine.python}"),
        ("its CPU", f"{machine.cpu}, {machine.cpu_count} usable"),
        ("its memory", f"{machine.memory_bytes / 1024**3:.1f} GiB"),
        *environment.settings.items(),
    ]
    return "## Environment\n\n" + _table(("what", "value"), rows)


def _benchmark(result: Benchmark | None) -> str:
    if result is None:
        return ""
    slo = result.slo
    checks = [(one.check, one.verdict, one.found) for one in result.validity]
    return "\n\n".join(
        [
            "## Benchmark",
            f"{table.asked(result)}.",
            _table(("metric", "value"), table.rows(result)),
            (
                f"Goodput counts requests with a TTFT up to {slo.ttft_seconds:g} s and "
                f"a TPOT up to {slo.tpot_seconds:g} s."
            ),
            f"The run is {'valid' if result.valid else '**invalid**'}:",
            _table(("check", "verdict", "found"), checks),
        ]
    )


def _questions(score: Score | None) -> str:
    if score is None:
        return ""
    rows = [
        (one.verdict, one.question.ask, one.text, " or ".join(one.question.any_of))
        for one in score.answers
    ]
    heads = ("verdict", "question", "answer", "right is")
    return f"## Questions\n\n{summary(score)}.\n\n{_table(heads, rows)}"


def _not_run(parts: Sequence[NotRun]) -> str:
    rows = [(one.part, one.reason) for one in parts]
    return "## Not run\n\n" + _table(("part", "why"), rows) if rows else ""


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in row)} |" for row in lines)


def _cell(text: str) -> str:
    """Keep a model's words from being read as Markdown, HTML or the end of a cell."""
    escaped = re.sub(r"([\\`*_\[\]<>|#~$])", r"\\\1", text) if text != "---" else text
    return "<br>".join(escaped.splitlines())
