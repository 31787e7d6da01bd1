"""Sweep and plan, on a server whose capacity is known."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bundle.errors import CouldNotRun, run_command
from scripts.benchmark import sweeping
from scripts.benchmark.__main__ import main
from scripts.benchmark.plan import plan, read
from scripts.benchmark.result import Stopped
from scripts.benchmark.sweep import (
    Sweep,
    automatic,
    curve,
    fixed,
    good_share,
    holds,
    pareto,
    require_on_time,
)
from scripts.benchmark.sweep_drawing import sweep_section
from scripts.benchmark.validity import SEND_LAG, Validity
from scripts.report.document import Figure
from scripts.report.words import say
from tests.fixtures.known_server import Profile, serve
from tests.fixtures.one_queue import measure

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scripts.benchmark.result import Benchmark


def true_knee(capacity: float) -> float:
    """Find the knee by trying every rate in steps of 1%."""
    rates = (capacity * 1.01**step for step in range(30, -200, -1))
    return 1.01 * next(rate for rate in rates if holds(measure(rate, capacity)))


@pytest.mark.parametrize("capacity", [20.0, 131.0])
def test_the_knee_is_found_within_a_step_of_the_bisection(capacity: float) -> None:
    found = automatic(lambda rate: measure(rate, capacity))
    knee = true_knee(capacity)

    assert found.knee
    assert knee / 1.1 <= found.knee <= knee
    assert found.knee <= capacity


@settings(max_examples=20)
@given(st.floats(0.5, 200), st.integers(0, 3))
def test_the_points_are_in_order_and_the_knee_is_the_last_that_held(
    capacity: float, noise: int
) -> None:
    spread = noise / 10
    found = automatic(lambda rate: measure(rate, capacity, count=60, noise=spread))
    rates = [point.metrics.offered_rate or math.inf for point in found.points]

    assert rates == sorted(rates)
    held = [rate for rate, p in zip(rates, found.points, strict=True) if holds(p)]
    assert found.knee in {None, *held}
    assert len(found.points) <= 20


def test_a_server_that_misses_its_objectives_at_any_rate_has_no_knee() -> None:
    found = automatic(lambda rate: measure(rate, 50.0, slow=20.0))

    assert found.knee is None
    assert good_share(found.points[0]) == 0


def test_fixed_rates_are_measured_upwards_until_two_in_a_row_did_not_hold() -> None:
    asked: list[float] = []

    def remember(rate: float) -> Benchmark:
        asked.append(rate)
        return measure(rate, 6.0)

    found = fixed([32, 1, 8, 4, 2, 16, math.inf], remember)

    assert asked == [1, 2, 4, 8, 16]
    assert found.knee == 4


def test_luck_beyond_the_knee_does_not_count() -> None:
    lucky = {1: 10.0, 2: 1.0, 4: 10.0}  # rate: the capacity of that moment
    found = fixed(lucky, lambda rate: measure(rate, lucky[int(rate)]))

    assert [holds(point) for point in found.points] == [True, False, True]
    assert found.knee == 1


def test_few_arrivals_that_fell_slow_are_no_overload() -> None:
    """The seed of the gaps decides when the first of 10 leaves, not the server."""
    point = measure(1.0, 400.0, count=10, seed=1)

    assert point.metrics.achieved_rate != pytest.approx(1.0, rel=0.05)
    assert point.metrics.carried == pytest.approx(1.0, rel=0.02)
    assert holds(point)


def late(point: Benchmark) -> Benchmark:
    """Give the same point by a client that was late."""
    lag = Validity(check=SEND_LAG, verdict="fail", found="P95 25.0 ms, at most 10")
    return point.model_copy(update={"validity": (lag,)})


def test_a_late_client_is_no_saturated_server() -> None:
    with pytest.raises(
        CouldNotRun, match=r"client was late at 8 requests/s: .* 25\.0 ms"
    ):
        require_on_time(late(measure(8, 2.0)))

    require_on_time(measure(8, 2.0))  # a saturated server is a point of the curve
    require_on_time(late(measure(math.inf, 2.0)))  # all at once has no schedule


def test_the_knee_of_a_curve_cut_short_rests_on_what_was_measured() -> None:
    points = [measure(rate, 6.0) for rate in (1, 2, 4, 8)]

    assert curve(points[:2], "Ctrl-C").knee == 2
    assert curve(points).at_knee() is points[2]
    assert curve(points).up_to_knee() == tuple(points[:3])
    assert curve(points[3:]).at_knee() is points[3]


@pytest.mark.parametrize(
    ("end", "told"),
    [
        (late, "the client was late at 200 requests/s"),
        (lambda point: raising(Stopped(point)), "stopped by Ctrl-C"),
        (lambda _: raising(KeyboardInterrupt()), "stopped by Ctrl-C"),
    ],
)
def test_a_sweep_that_ends_early_keeps_what_was_measured(
    end: Callable[[Benchmark], Benchmark],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    points = iter([measure(50, 400.0), measure(100, 400.0)])
    monkeypatch.setattr(
        sweeping,
        "benchmark",
        lambda *_: next(points, None) or end(measure(200, 400.0)),
    )

    code = command(tmp_path, "--sweep", "50,100,200")

    assert code == 2
    kept = Sweep.model_validate_json((tmp_path / "sweep.json").read_text())
    assert kept.knee == 100
    assert told in kept.ended
    assert told in (tmp_path / "sweep.md").read_text(encoding="utf-8")
    assert told in capsys.readouterr().err


def raising(error: BaseException) -> Benchmark:
    """Raise `error`, where only an expression can stand."""
    raise error


@pytest.mark.parametrize(
    "more", [["--concurrency", "4"], ["--against", "http://h"], ["--baseline", "b.json"]]
)
def test_what_a_sweep_would_ignore_is_refused(more: list[str], tmp_path: Path) -> None:
    assert command(tmp_path, "--sweep", "1,2", *more) == 64


def command(out: Path, *words: str) -> int:
    """Run the command on a server that answers at once."""
    profile = Profile(ttft=0.01, tpot=0.001)
    with serve(profile) as known:
        environ = {"BUNDLE_MODEL": profile.model, "BUNDLE_SERVER_URL": known.url}
        small = ["--num-prompts", "20", "--output-len", "4", "--input-len", "16"]
        words = (*small, "--out", str(out), *words)
        return run_command(lambda: main(words, environ))


def test_pareto_keeps_what_no_other_beats() -> None:
    good, slower = measure(4.0, 8.0), measure(3.9, 8.0, slow=2.0)
    quiet = measure(1.0, 8.0, slow=0.5)

    assert pareto([good, slower, quiet]) == [good, quiet]


@pytest.mark.parametrize("tpot", [None, 0.0])
def test_a_curve_without_tpot_is_drawn_without(tpot: float | None) -> None:
    """Answers have one token, or come in one piece."""
    points = [measure(rate, 9.0) for rate in (1.0, 2.0)]
    known = points[0].metrics.tpot_ms
    assert known
    none = None if tpot is None else known.model_copy(update={"median": 0, "p90": 0})
    points = [
        one.model_copy(
            update={"metrics": one.metrics.model_copy(update={"tpot_ms": none})}
        )
        for one in points
    ]
    section = sweep_section(curve(points), say("en"))

    drawn = [block for block in section.blocks if isinstance(block, Figure)]
    assert len(drawn) == (2 if tpot is None else 3)


def test_a_plan_gives_each_replica_less_than_the_knee_by_the_headroom() -> None:
    sweep = fixed([1, 2, 4, 8], lambda rate: measure(rate, 6.0))
    found = plan(20.0, sweep, headroom=0.8)

    assert found.replicas == 7  # 20 / (4 · 0.8) = 6.25
    assert found.rate_each == pytest.approx(20 / 7)
    assert found.measured_at == 4
    assert plan(3.2, sweep).replicas == 1
    assert plan(3.3, sweep).replicas == 2


def test_nothing_is_planned_by_a_sweep_without_a_knee() -> None:
    with pytest.raises(CouldNotRun, match="no rate that held"):
        plan(1.0, Sweep(points=(measure(8.0, 2.0),), knee=None))


def test_nothing_is_planned_by_a_sweep_that_does_not_hold() -> None:
    point = measure(4.0, 9.0)
    late = Validity(check="cached prompt tokens", verdict="fail", found="9, planned 0")
    bad = point.model_copy(update={"validity": (late,)})

    with pytest.raises(CouldNotRun, match="cached prompt tokens: 9, planned 0"):
        plan(1.0, curve([bad]))


@pytest.mark.parametrize("knee", [0.0, -1.0, 5.0])
def test_a_knee_that_was_not_measured_is_no_sweep(knee: float, tmp_path: Path) -> None:
    path = tmp_path / "sweep.json"
    path.write_text(Sweep(points=(measure(4.0, 9.0),), knee=knee).model_dump_json())

    with pytest.raises(CouldNotRun, match="is none of its points"):
        read(path)


def test_a_rate_is_measured_once() -> None:
    assert len(fixed([1.0, 1.0], lambda rate: measure(rate, 9.0)).points) == 1


def test_the_command_sweeps_and_plans_by_what_it_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        sweeping,
        "benchmark",
        lambda _, load, *__: measure(load.rate, 400.0, count=load.num_prompts),
    )
    code = command(tmp_path, "--sweep", "100,50")
    sweep = json.loads((tmp_path / "sweep.json").read_text())
    file = ["plan", "--rate", "150", "--sweep-file", str(tmp_path / "sweep.json")]

    assert (code, sweep["knee"]) == (0, 100)
    assert [point["metrics"]["offered_rate"] for point in sweep["points"]] == [50, 100]
    assert all(point["metrics"]["completed"] == 100 for point in sweep["points"])
    assert "<svg" in (tmp_path / "sweep.html").read_text(encoding="utf-8")
    assert run_command(lambda: main(file, {})) == 0
    assert "150 requests/s: 2 replicas" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--rate", "inf"], 64),
        (["--rate", "0"], 64),
        (["--rate", "1", "--headroom", "2"], 64),
        (["--rate", "1"], 2),
    ],
)
def test_a_plan_of_nonsense_is_refused(
    words: list[str], code: int, tmp_path: Path
) -> None:
    missing = ["--sweep-file", str(tmp_path / "no.json")]

    assert run_command(lambda: main(["plan", *words, *missing], {})) == code
