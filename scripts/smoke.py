"""`python -m scripts.smoke`: does this deployment answer, rightly, and how fast?"""

from __future__ import annotations

import datetime as dt
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, get_args

from bundle import api
from bundle.errors import BundleError, run_command
from bundle.model import Model, Question, load_model, load_questions
from bundle.settings import Settings, load
from scripts.benchmark import table
from scripts.benchmark.load import Load
from scripts.benchmark.result import Benchmark, benchmark
from scripts.commandline import Parser
from scripts.output import prepare
from scripts.progress import progress
from scripts.questions import Score, ask_all
from scripts.report.environment import environment
from scripts.report.files import save
from scripts.report.form import NotRun, Report
from scripts.report.words import Language
from scripts.target import require_model
from scripts.verdict import exit_code, judge, overall

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bundle.api import Server

    _Part = TypeVar("_Part")

SUITES = ("quick",)

# What the quick suite leaves out, so that nobody takes its pass for more than it is.
LEFT_OUT = (
    NotRun(
        part="base point 512/128", reason="quick suite; `python -m scripts.benchmark`"
    ),
    NotRun(part="GSM8K", reason="not in the quick suite"),
    NotRun(part="consistency", reason="not in the quick suite"),
    NotRun(part="numeric parity", reason="not in the quick suite"),
)


@dataclass(frozen=True)
class Target:
    """What is checked: a server, and the model that it should serve."""

    settings: Settings
    model: Model
    questions: tuple[Question, ...]
    server: Server
    served: list[str]


def quick(model: str) -> Load:
    """Give a load that a CPU carries in seconds."""
    return Load(model, 128, 32, rate=1.0, num_prompts=8, warm_ups=2)


def main(
    words: Sequence[str],
    environ: Mapping[str, str],
    load_of: Callable[[str], Load] = quick,
) -> int:
    """Check the deployment, write the report, and give the verdict as exit code."""
    options = _parser().parse_args(words)
    prepare(options.out)
    target = find(environ)
    print(f"smoke test of {target.model.title} at {target.server.url}", flush=True)
    questions = attempt("questions", lambda: ask(target))
    speed = attempt("benchmark", lambda: measure(target, load_of))
    report = compose(target, options.suite, questions, speed)
    path = save(report, options.out, options.language)
    print(results(report, path), flush=True)
    return exit_code(report.checks)


def find(environ: Mapping[str, str]) -> Target:
    """Read settings and model; raises `CouldNotRun` unless the server serves it."""
    settings = load(environ)
    model = load_model(settings.models_dir, settings.model)
    questions = load_questions(settings.models_dir, settings.model)
    server = api.server(settings)
    served = require_model(server, model.name)
    return Target(settings, model, questions.quick, server, served)


def ask(target: Target) -> Score:
    """Ask the quick suite's questions."""
    show = progress("questions")
    return ask_all(target.server, target.model.name, target.questions, show)


def measure(target: Target, load_of: Callable[[str], Load]) -> Benchmark:
    """Run the benchmark."""
    asked = load_of(target.model.name)
    return benchmark(target.server, asked, target.model.slo, progress("benchmark"))


def attempt(part: str, run: Callable[[], _Part]) -> _Part | NotRun:
    """Run one part; if it cannot be run, the others still are."""
    try:
        return run()
    except BundleError as error:
        print(error, file=sys.stderr, flush=True)
        reasons = "; ".join(problem.what for problem in error.problems)
        return NotRun(part=part, reason=reasons)


def compose(
    target: Target, suite: str, questions: Score | NotRun, speed: Benchmark | NotRun
) -> Report:
    """Put all that was found into one report."""
    parts = (questions, speed)
    checks = judge(target.model, questions, speed)
    return Report(
        made_at=dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds"),
        suite=suite,
        verdict=overall(checks),
        checks=checks,
        environment=environment(
            target.server, target.settings, target.model, target.served
        ),
        benchmark=speed if isinstance(speed, Benchmark) else None,
        questions=questions if isinstance(questions, Score) else None,
        not_run=(*(part for part in parts if isinstance(part, NotRun)), *LEFT_OUT),
    )


def results(report: Report, path: Path) -> str:
    """Give the short table that the terminal shows."""
    rows = [(one.name, f"{one.verdict:<7}  {one.found}") for one in report.checks]
    wanted = ("TTFT", "TPOT", "output token throughput")
    speed = table.rows(report.benchmark) if report.benchmark else []
    rows += [(name, value) for name, value in speed if name.startswith(wanted)]
    rows += [("verdict", report.verdict), ("report", str(path))]
    return "\n" + table.lines(rows)


def _parser() -> Parser:
    parser = Parser("python -m scripts.smoke", description=__doc__)
    parser.add_argument("--suite", choices=SUITES, default=SUITES[0])
    parser.add_argument(
        "--out", type=Path, default=Path("var/report"), help="folder of the report"
    )
    parser.add_argument("--language", choices=get_args(Language), default="en")
    return parser


if __name__ == "__main__":
    sys.exit(run_command(lambda: main(sys.argv[1:], os.environ)))
