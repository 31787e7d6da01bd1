"""The parts of the smoke test, and which suite runs which of them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bundle.errors import CouldNotRun, ExitCode, Problem
from scripts.accuracy import problems
from scripts.accuracy.ask import Run
from scripts.accuracy.measure import measure, most_at_once, request_to
from scripts.benchmark.load import Load
from scripts.benchmark.result import benchmark
from scripts.consistency.record import read, record
from scripts.consistency.result import consistency
from scripts.parity.result import Result as Parity
from scripts.progress import progress
from scripts.questions import ask_all

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bundle.api import Server
    from bundle.model import Model, Question, Questions
    from bundle.settings import Settings
    from scripts.accuracy.problems import DataSet
    from scripts.accuracy.result import Accuracy
    from scripts.benchmark.result import Benchmark
    from scripts.consistency.result import Consistency
    from scripts.questions import Score

_STANDARD_PROBLEMS = 200


@dataclass(frozen=True)
class Target:
    """What is checked: a server, and the model that it should serve.

    `out` is the report's folder; `recorded` a reference run of `scripts.consistency`,
    `golden` a file of `scripts.parity record`, where there is one.
    """

    settings: Settings
    model: Model
    questions: Questions
    server: Server
    served: list[str]
    out: Path
    recorded: Path | None = None
    golden: Path | None = None


def quick_load(model: str) -> Load:
    """Give a load that a CPU carries in seconds."""
    return Load(model, 128, 32, rate=1.0, num_prompts=8, warm_ups=2)


def quick_questions(target: Target) -> Score:
    """Ask a few questions."""
    return _ask(target, target.questions.quick)


def every_question(target: Target) -> Score:
    """Ask all of them."""
    return _ask(target, target.questions.every)


def quick_benchmark(target: Target) -> Benchmark:
    """Put the quick load on the server."""
    return _run(target, quick_load(target.model.name))


def base_point(target: Target) -> Benchmark:
    """Put the reference run's load on the server."""
    return _run(target, Load(target.model.name))


def some_problems(target: Target) -> Accuracy:
    """Ask as many problems as give an interval that says something."""
    return _solve(target, _STANDARD_PROBLEMS)


def every_problem(target: Target) -> Accuracy:
    """Ask all problems."""
    return _solve(target, None)


def against_recorded(target: Target) -> Consistency:
    """Compare the answers with those of a recorded run; there is one."""
    assert target.recorded is not None  # noqa: S101 - a part that is left out is not run
    reference = read(target.recorded, target.model.name)
    asked = [reply.question for reply in reference.replies]
    show = progress("consistency")
    found = record(target.server, target.model.name, asked, show, reference.max_tokens)
    return consistency(reference, found, target.model.thresholds.consistency)


def against_golden(target: Target) -> Parity:
    """Compare the server's probabilities with a golden file's; there is one."""
    out = target.out / "parity"
    path = out / "parity.json"
    path.unlink(missing_ok=True)  # an earlier run's is no result of this one
    words = ["--golden", str(target.golden), "--server", target.server.url]
    command = [sys.executable, "-m", "scripts.parity", *words, "--out", str(out)]
    done = subprocess.run(command, check=False)
    judged = done.returncode in {ExitCode.GOOD, ExitCode.CHECK_FAILED}
    if not judged or not path.is_file():
        what = f"scripts.parity ended with {done.returncode} and no result"
        raise CouldNotRun(Problem(what, "read what it said above"))
    return Parity.model_validate_json(path.read_text(encoding="utf-8"))


# By the name that the report gives them; the order is that of the report too.
_STANDARD: dict[str, Callable[[Target], Any]] = {
    "questions": every_question,
    "benchmark": base_point,
    "accuracy": some_problems,
    "consistency": against_recorded,
    "parity": against_golden,
}
SUITES: dict[str, dict[str, Callable[[Target], Any]]] = {
    "quick": {"questions": quick_questions, "benchmark": quick_benchmark},
    "standard": _STANDARD,
    "full": {**_STANDARD, "accuracy": every_problem},
}


def left_out(suite: str, target: Target) -> dict[str, str]:
    """Say which parts `suite` does not run here, and why: nobody shall miss that."""
    names = dict.fromkeys(name for parts in SUITES.values() for name in parts)
    reasons = {
        name: f"not in the {suite} suite" for name in names if name not in SUITES[suite]
    }
    given = {
        "consistency": (target.recorded, "--recorded", "scripts.consistency --record F"),
        "parity": (target.golden, "--golden", "scripts.parity record"),
    }
    for name, (file, option, maker) in given.items():
        if name in SUITES[suite] and file is None:
            reasons[name] = f"no {option} FILE; make one by `python -m {maker}`"
    if suite == "quick":
        reasons["base point 512/128"] = "the quick suite's load is smaller"
    return reasons


def _ask(target: Target, questions: tuple[Question, ...]) -> Score:
    show = progress("questions")
    return ask_all(target.server, target.model.name, questions, show)


def _run(target: Target, load: Load) -> Benchmark:
    return benchmark(target.server, load, target.model.slo, progress("benchmark"))


def _solve(target: Target, limit: int | None) -> Accuracy:
    data = _problems()
    request = request_to(target.model)
    at_once = target.settings.max_num_seqs or most_at_once(target.model)
    run = Run(target.server, data.problems[:limit], request, at_once)
    return measure(run, data, target.model, target.out)


def _problems() -> DataSet:
    """Give GSM8K, or our own problems where it cannot be had, which says so aloud."""
    try:
        return problems.gsm8k(None)
    except CouldNotRun as error:
        print(f"{error.problems[0].what}\n  so our own problems instead", flush=True)
        return problems.own()
