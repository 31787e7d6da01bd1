"""From what was found to pass, fail or not run, and to the exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bundle.errors import ExitCode
from scripts.benchmark.validity import SEND_LAG
from scripts.parity.result import Result as Parity
from scripts.questions import summary
from scripts.report.form import Check, NotRun, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bundle.model import Model
    from scripts.benchmark.result import Benchmark
    from scripts.gate import Gate
    from scripts.parity.result import Row
    from scripts.questions import Score


def judge(model: Model, found: Mapping[str, Any]) -> tuple[Check, ...]:
    """Hold each part that was to be run against the thresholds of `model`."""
    return tuple(check for name in found for check in _judge(name, found[name], model))


def _judge(name: str, part: Any, model: Model) -> Sequence[Check]:  # noqa: ANN401 - each part has its own result
    if name == "questions":
        return [_questions(part, model)]
    if name == "benchmark":
        return [_benchmark(part)]
    if isinstance(part, NotRun):
        return [_not_run(name, part, "its gates in model.yaml")]
    if isinstance(part, Parity):
        return [_row(row) for row in part.rows]
    return [_gate(name, gate) for gate in part.gates]


def _row(row: Row) -> Check:
    return Check(
        name=f"parity: {row.name}",
        verdict="pass" if row.passed else "fail",
        found=f"{row.value:.6g}",
        required=f"{row.sense} {row.limit:g}",
    )


def _gate(part: str, gate: Gate) -> Check:
    return Check(
        name=f"{part}: {gate.name}",
        verdict="pass" if gate.passed else "fail",
        found=gate.found,
        required=gate.required,
    )


def overall(checks: Sequence[Check]) -> Verdict:
    """Give fail if any check failed, since that is known; else not run if any was not."""
    verdicts = {check.verdict for check in checks}
    if "fail" in verdicts:
        return "fail"
    return "not run" if "not run" in verdicts else "pass"


def exit_code(checks: Sequence[Check]) -> ExitCode:
    """Give the exit code that stands for `overall`."""
    return {
        "pass": ExitCode.GOOD,
        "fail": ExitCode.CHECK_FAILED,
        "not run": ExitCode.COULD_NOT_RUN,
    }[overall(checks)]


def _questions(score: Score | NotRun, model: Model) -> Check:
    needed = model.thresholds.questions_right_share
    required = f"at least {needed:.0%} right"
    if isinstance(score, NotRun):
        return _not_run("questions", score, required)
    good = score.share >= needed
    return Check(
        name="questions",
        verdict="pass" if good else "fail",
        found=summary(score),
        required=required,
    )


def _benchmark(result: Benchmark | NotRun) -> Check:
    """Judge all but the send lag.

    Where the engine computes on the client's own cores, the client is late at times. That
    blurs the offered rate, which is shown; it says nothing against the deployment.
    """
    required = "no failed request, token counts exact, cache cold"
    if isinstance(result, NotRun):
        return _not_run("benchmark", result, required)
    failed = [one for one in result.failed() if one.check != SEND_LAG]
    found = "; ".join(f"{one.check}: {one.found}" for one in failed) or _valid(result)
    return Check(
        name="benchmark",
        verdict="fail" if failed else "pass",
        found=found,
        required=required,
    )


def _valid(result: Benchmark) -> str:
    """Say valid, and which checks the server gave no means for."""
    open_ = [one.check for one in result.validity if one.verdict == "not checked"]
    return f"valid; not checked: {', '.join(open_)}" if open_ else "valid"


def _not_run(name: str, part: NotRun, required: str) -> Check:
    return Check(name=name, verdict="not run", found=part.reason, required=required)
