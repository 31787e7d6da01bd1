"""Options of the command that measure more than one point, and what they give."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from bundle.api import Server
from bundle.errors import ExitCode
from scripts.benchmark import against, baseline, drawing, sweep, table
from scripts.benchmark.load import Load
from scripts.benchmark.result import benchmark
from scripts.commandline import at_least_one, positive
from scripts.output import write
from scripts.progress import progress
from scripts.report.html import html
from scripts.report.markdown import markdown
from scripts.report.words import Language, say
from scripts.target import require_model

if TYPE_CHECKING:
    import argparse

    from bundle.model import Model
    from scripts.benchmark.result import Benchmark
    from scripts.report.document import Section

AUTO = "auto"
_LEAST_REQUESTS, _LEAST_SECONDS = 100, 30  # of a point of a sweep


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options to `parser`."""
    rates = "rates to measure, as 1,2,4,inf; auto: double, then bisect to the knee"
    parser.add_argument("--sweep", type=_rates, metavar="RATES", help=rates)
    earlier = "a baseline.yaml or an earlier benchmark.json; else the reference's"
    parser.add_argument("--baseline", type=Path, metavar="FILE", help=earlier)
    other = "another server, measured by turns; exit 1 if ours is surely slower"
    parser.add_argument("--against", metavar="URL", help=other)
    rounds = "of --against"
    parser.add_argument(
        "--rounds", type=at_least_one, default=against.ROUNDS, help=rounds
    )
    parser.add_argument("--language", choices=get_args(Language), default="en")


def run_sweep(
    server: Server, load: Load, model: Model, options: argparse.Namespace
) -> ExitCode:
    """Measure the curve, and write it."""

    def measure(rate: float) -> Benchmark:
        print(f"rate {rate:g}/s", flush=True)
        asked = dataclasses.replace(load, rate=rate, run_id=Load("").run_id)
        return benchmark(server, at_least(asked), model.slo, progress("requests"))

    rates = options.sweep
    found = sweep.automatic(measure) if rates == AUTO else sweep.fixed(rates, measure)
    write(options.out / "sweep.json", found.model_dump_json(indent=2) + "\n")
    word = say(options.language)
    best = [point for point in found.points if point.metrics.offered_rate == found.knee]
    shown = best[0] if best else found.points[0]
    give(shown, [drawing.sweep_section(found, word)], options, "sweep")
    knee = "none: no rate held" if found.knee is None else f"{found.knee:g} requests/s"
    print(f"knee: {knee}\nreport: {options.out / 'sweep.html'}")
    return ExitCode.CHECK_FAILED if found.knee is None else ExitCode.GOOD


def at_least(load: Load) -> Load:
    """Give a point of a sweep enough requests, or enough time."""
    if math.isinf(load.rate):
        return dataclasses.replace(load, num_prompts=max(load.num_prompts, 100))
    count = min(_LEAST_REQUESTS, math.ceil(load.rate * _LEAST_SECONDS))
    return dataclasses.replace(load, num_prompts=max(load.num_prompts, count))


def run_against(
    server: Server, load: Load, model: Model, options: argparse.Namespace
) -> ExitCode:
    """Measure both servers by turns, and say whether ours is slower."""
    other = Server(options.against.rstrip("/"), server.key, server.timeout)
    require_model(other, model.name)

    def measure(one: Server, label: str) -> Benchmark:
        asked = dataclasses.replace(load, run_id=Load("").run_id)
        return benchmark(one, asked, model.slo, progress(label))

    ours, theirs = against.by_turns(
        lambda: measure(server, "ours"), lambda: measure(other, "theirs"), options.rounds
    )
    rows = against.paired(ours, theirs)
    print(f"\nours {server.url} by theirs {other.url}, {options.rounds} rounds by turns")
    print(table.lines([(row.metric, against.line(row)) for row in rows]))
    invalid = [one for one in (*ours, *theirs) if not one.valid]
    if invalid:
        print(f"{len(invalid)} of {2 * options.rounds} runs are invalid")
    slower = any(row.regression for row in rows)
    return ExitCode.CHECK_FAILED if slower or invalid else ExitCode.GOOD


def compare(
    result: Benchmark, folder: Path, options: argparse.Namespace, *, on_card: bool
) -> tuple[list[Section], bool]:
    """Set `result` beside its baseline; whether it is slower.

    Without --baseline it is the reference of the model in `folder`, if the load is its.
    """
    path = options.baseline or folder / baseline.REFERENCE
    if not options.baseline and not path.exists():
        return [], False
    known = baseline.read(path)
    if not options.baseline and not baseline.same_load(result, known):
        return [], False
    same_device = on_card or not known.device
    rows = baseline.compare(result.metrics, known, same_device=same_device)
    print(f"\nbeside {known.source}" + ("" if same_device else f", {known.device}"))
    print(table.lines([(row.metric, baseline.line(row)) for row in rows]))
    section = drawing.baseline_section(known, rows, say(options.language))
    return [section], any(row.verdict == "slower" for row in rows)


def give(
    result: Benchmark, sections: list[Section], options: argparse.Namespace, name: str
) -> None:
    """Write Markdown and HTML."""
    drawn = drawing.document(result, sections, options.language)
    write(options.out / f"{name}.md", markdown(drawn))
    write(options.out / f"{name}.html", html(drawn))


def _rates(word: str) -> str | tuple[float, ...]:
    """Read `auto`, or rates with commas between them."""
    return AUTO if word == AUTO else tuple(positive(one) for one in word.split(","))
