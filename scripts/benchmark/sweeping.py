"""`--sweep`: measure the curve of the server, and keep it, also where it is cut short."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bundle.errors import CouldNotRun, ExitCode
from scripts.benchmark import compared, sweep
from scripts.benchmark.result import benchmark
from scripts.benchmark.sweep_drawing import sweep_section
from scripts.output import write
from scripts.progress import progress
from scripts.report.words import say

if TYPE_CHECKING:
    import argparse

    from bundle.api import Server
    from bundle.model import Model
    from scripts.benchmark.load import Load
    from scripts.benchmark.result import Benchmark

_LEAST_REQUESTS, _LEAST_SECONDS = 100, 30  # of a point


def run_sweep(
    server: Server, load: Load, model: Model, options: argparse.Namespace
) -> ExitCode:
    """Measure the curve, and write it.

    Raises:
        CouldNotRun: the server died, or the client was late; what came before is kept.
        KeyboardInterrupt: Ctrl-C; likewise.
    """
    points: list[Benchmark] = []

    def measure(rate: float) -> Benchmark:
        print(f"rate {rate:g}/s", flush=True)
        count = max(load.num_prompts, _least(rate))
        asked = load.anew(rate=rate, num_prompts=count)
        point = benchmark(server, asked, model.slo, progress("requests"))
        sweep.require_on_time(point)
        points.append(point)
        return point

    rates = options.sweep
    automatic = rates == compared.AUTO
    try:
        found = sweep.automatic(measure) if automatic else sweep.fixed(rates, measure)
    except (CouldNotRun, KeyboardInterrupt) as error:
        if points:
            ended = str(error).splitlines()[0] if str(error) else "stopped by Ctrl-C"
            _give(sweep.curve(points, ended), options)
        raise
    return _give(found, options)


def _give(found: sweep.Sweep, options: argparse.Namespace) -> ExitCode:
    """Keep the curve, draw it, and say whether it has a knee and holds up to there."""
    write(options.out / "sweep.json", found.model_dump_json(indent=2) + "\n")
    knee = "none: no rate held" if found.knee is None else f"{found.knee:g} requests/s"
    section = sweep_section(found, say(options.language))
    compared.give(found.at_knee(), [section], options, "sweep")
    print(f"\nknee: {knee}\nreport: {options.out / 'sweep.html'}", flush=True)
    invalid = [point for point in found.up_to_knee() if not point.valid]
    for point in invalid:
        failed = ", ".join(f"{one.check}: {one.found}" for one in point.failed())
        print(f"invalid at {point.asked.request_rate or math.inf:g}/s: {failed}")
    good = found.knee is not None and not invalid
    return ExitCode.GOOD if good else ExitCode.CHECK_FAILED


def _least(rate: float) -> int:
    """Give how many requests of a point are enough, or take enough time."""
    return math.ceil(min(_LEAST_REQUESTS, rate * _LEAST_SECONDS))
