"""`python -m scripts.smoke`: does this deployment answer, rightly, and how fast?"""

from __future__ import annotations

import datetime as dt
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from bundle import api
from bundle.errors import BundleError, Problem, WrongUsage, run_command
from bundle.model import load_model, load_questions
from bundle.settings import load
from scripts.benchmark import table
from scripts.benchmark.beside import Beside, reference
from scripts.benchmark.result import Benchmark
from scripts.commandline import Parser
from scripts.output import prepare
from scripts.report.environment import environment
from scripts.report.files import save
from scripts.report.form import NotRun, Report
from scripts.report.words import Language
from scripts.suites import SUITES, Target, left_out
from scripts.target import on_card, require_model
from scripts.verdict import exit_code, judge, overall

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence


def main(
    words: Sequence[str],
    environ: Mapping[str, str],
    suites: Mapping[str, Mapping[str, Callable[[Target], Any]]] = SUITES,
) -> int:
    """Check the deployment, write the report, and give the verdict as exit code."""
    options = _parser().parse_args(words)
    _refuse_unused(options, suites)
    prepare(options.out)
    target = find(environ, options)
    print(f"smoke test of {target.model.title} at {target.server.url}", flush=True)
    missing = left_out(options.suite, target)
    found = {
        name: attempt(name, run, target)
        for name, run in suites[options.suite].items()
        if name not in missing
    }
    report = compose(target, options.suite, found, missing)
    path = save(report, options.out, options.language)
    print(results(report, path), flush=True)
    return exit_code(report.checks)


def _refuse_unused(
    options: argparse.Namespace, suites: Mapping[str, Mapping[str, object]]
) -> None:
    """Raise `WrongUsage` at a file that the suite would pass over."""
    uses = {"recorded": "consistency", "golden": "parity"}
    for option, part in uses.items():
        if getattr(options, option) and part not in suites[options.suite]:
            what = f"--{option} was given, and the {options.suite} suite has no {part}"
            raise WrongUsage(Problem(what, "add --suite standard"))


def find(environ: Mapping[str, str], options: argparse.Namespace) -> Target:
    """Read settings and model; raises `CouldNotRun` unless the server serves it."""
    settings = load(environ)
    model = load_model(settings.models_dir, settings.model)
    questions = load_questions(settings.models_dir, settings.model)
    server = api.server(settings)
    served = require_model(server, model.name)
    files = (options.out, options.recorded, options.golden)
    return Target(settings, model, questions, server, served, *files)


def attempt(part: str, run: Callable[[Target], Any], target: Target) -> Any:  # noqa: ANN401 - each part has its own result
    """Run one part; if it cannot be run, the others still are."""
    try:
        return run(target)
    except BundleError as error:
        print(error, file=sys.stderr, flush=True)
        reasons = "; ".join(problem.what for problem in error.problems)
        return NotRun(part=part, reason=reasons)


def compose(
    target: Target, suite: str, found: Mapping[str, Any], missing: Mapping[str, str]
) -> Report:
    """Put all that was found into one report."""
    checks = judge(target.model, found)
    run = {name: one for name, one in found.items() if not isinstance(one, NotRun)}
    return Report(
        made_at=dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds"),
        suite=suite,
        verdict=overall(checks),
        checks=checks,
        environment=environment(
            target.server, target.settings, target.model, target.served
        ),
        **run,
        reference=_reference(target, found.get("benchmark")),
        not_run=(
            *(one for one in found.values() if isinstance(one, NotRun)),
            *(NotRun(part=name, reason=why) for name, why in missing.items()),
        ),
    )


def _reference(target: Target, speed: Benchmark | NotRun | None) -> Beside | None:
    """Give the reference run beside ours; a slower card fails no smoke test by it."""
    if not isinstance(speed, Benchmark):
        return None
    folder = target.settings.models_dir / target.model.name
    return reference(speed, folder, on_card=on_card(target.settings))


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
    parser.add_argument("--suite", choices=SUITES, default=next(iter(SUITES)))
    parser.add_argument(
        "--out", type=Path, default=Path("var/report"), help="folder of the report"
    )
    recorded = "a run of `scripts.consistency --record` to compare with"
    parser.add_argument("--recorded", type=Path, metavar="FILE", help=recorded)
    golden = "a file of `scripts.parity record` to compare with"
    parser.add_argument("--golden", type=Path, metavar="FILE", help=golden)
    parser.add_argument("--language", choices=get_args(Language), default="en")
    return parser


if __name__ == "__main__":
    sys.exit(run_command(lambda: main(sys.argv[1:], os.environ)))
