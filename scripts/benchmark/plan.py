"""How many replicas a load needs, by the measured curve of one.

Assumed: replicas do not share a card, the load is spread evenly, and it has the shape of
the sweep's. What one replica is given stays below the knee by the headroom.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from bundle.errors import CouldNotRun, ExitCode, Problem, WrongUsage
from bundle.model import Strict
from scripts.benchmark.sweep import Sweep
from scripts.commandline import Parser, positive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scripts.benchmark.result import Benchmark

HEADROOM = 0.8  # of the knee: bursts, and one replica fewer at a restart


class Plan(Strict):
    """Replicas for `rate`; latencies, in ms, were measured at the next higher rate."""

    rate: float
    replicas: int
    rate_each: float
    knee: float
    headroom: float
    measured_at: float
    ttft_p90_ms: float | None
    tpot_p90_ms: float | None


def plan(rate: float, sweep: Sweep, headroom: float = HEADROOM) -> Plan:
    """Give the replicas that carry `rate` requests per second.

    Raises:
        CouldNotRun: the sweep has no knee: nothing that was measured held; or it is
            invalid.
    """
    if sweep.knee is None:
        what = "the sweep has no rate that held, so nothing can be planned by it"
        remedy = "sweep lower rates, or see why the objectives are missed"
        raise CouldNotRun(Problem(what, remedy))
    if invalid := [one for one in sweep.up_to_knee() if not one.valid]:
        failed = invalid[0].failed()[0]
        what = f"the sweep is invalid up to its knee: {failed.check}: {failed.found}"
        raise CouldNotRun(Problem(what, "mend that, and sweep again"))
    replicas = max(1, math.ceil(rate / (sweep.knee * headroom) - 1e-9))
    each = rate / replicas
    point = _next(each, sweep)
    metrics = point.metrics
    return Plan(
        rate=rate,
        replicas=replicas,
        rate_each=each,
        knee=sweep.knee,
        headroom=headroom,
        measured_at=metrics.offered_rate or math.inf,
        ttft_p90_ms=metrics.ttft_ms.p90 if metrics.ttft_ms else None,
        tpot_p90_ms=metrics.tpot_ms.p90 if metrics.tpot_ms else None,
    )


def main(words: Sequence[str]) -> ExitCode:
    """Say how many replicas a load needs, by a `sweep.json`."""
    parser = Parser("python -m scripts.benchmark plan", description=__doc__)
    rate_help = "requests per second to carry"
    parser.add_argument("--rate", type=positive, required=True, help=rate_help)
    parser.add_argument(
        "--sweep-file", type=Path, default=Path("var/benchmark/sweep.json")
    )
    parser.add_argument("--headroom", type=positive, default=HEADROOM)
    options = parser.parse_args(words)
    if math.isinf(options.rate) or options.headroom > 1:
        what = f"--rate {options.rate:g} --headroom {options.headroom:g}"
        remedy = "give a finite rate, and a headroom of at most 1"
        raise WrongUsage(Problem(what, remedy))
    print(text(plan(options.rate, read(options.sweep_file), options.headroom)))
    return ExitCode.GOOD


def read(path: Path) -> Sweep:
    """Read a `sweep.json`; raises `CouldNotRun` if it is none."""
    try:
        found = Sweep.model_validate_json(path.read_text(encoding="utf-8"))
        _require_its_knee(found)
    except (OSError, ValueError) as error:
        what = f"{path} is no sweep: {str(error).splitlines()[0]}"
        remedy = "make one by `python -m scripts.benchmark --sweep auto`"
        raise CouldNotRun(Problem(what, remedy)) from error
    return found


def _require_its_knee(sweep: Sweep) -> None:
    rates = [point.metrics.offered_rate for point in sweep.points]
    if sweep.knee is not None and (sweep.knee <= 0 or sweep.knee not in rates):
        raise ValueError(f"its knee, {sweep.knee}, is none of its points")


def _next(rate: float, sweep: Sweep) -> Benchmark:
    """Give the lowest measured point at or above `rate`; there is one, the knee."""
    return next(
        point
        for point in sweep.points
        if (point.metrics.offered_rate or math.inf) >= rate * (1 - 1e-9)
    )


def text(found: Plan) -> str:
    """Say it, with what it rests on."""
    latencies = ", ".join(
        f"{name} P90 {value:.1f} ms"
        for name, value in (("TTFT", found.ttft_p90_ms), ("TPOT", found.tpot_p90_ms))
        if value is not None
    )
    return (
        f"{found.rate:g} requests/s: {found.replicas} replicas, "
        f"{found.rate_each:.2f}/s each\n"
        f"  each carries {found.knee:g}/s, of which {found.headroom:.0%} are used\n"
        f"  measured at {found.measured_at:g}/s: {latencies}\n"
        "  assumed: a load of the sweep's shape, spread evenly over replicas that share\n"
        "  no card"
    )
