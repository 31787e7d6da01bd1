"""From single points to the curve of a server: where it stops to carry the load."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bundle.errors import CouldNotRun, Problem
from bundle.model import Strict
from scripts.benchmark.metrics import CARRIED
from scripts.benchmark.result import Benchmark
from scripts.benchmark.validity import SEND_LAG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Measure = Callable[[float], Benchmark]

GOOD = 0.9  # requests within the objectives, of all
BEYOND = 2  # points past the knee that still show its shape
_PRECISION = 1.1  # the bisection ends where the two rates are this close
_FASTEST = 4096.0  # per second: no server of one small model


class Sweep(Strict):
    """Points by offered rate, lowest first; `knee` is the highest rate that held.

    ended: why nothing more was measured, if that was not the plan; the true knee may then
    be higher.
    """

    points: tuple[Benchmark, ...]
    knee: float | None
    ended: str = ""

    def up_to_knee(self) -> tuple[Benchmark, ...]:
        """Give the points that the knee rests on; all of them if there is none."""
        last = math.inf if self.knee is None else self.knee
        return tuple(point for point in self.points if _offered(point) <= last)

    def at_knee(self) -> Benchmark:
        """Give the point at the knee, or the lowest."""
        return self.points[0] if self.knee is None else self.up_to_knee()[-1]


def require_on_time(point: Benchmark) -> None:
    """See that the client kept its schedule: what it offered was else not the rate.

    All at once has no schedule. Raises `CouldNotRun`.
    """
    late = [one for one in point.failed() if one.check == SEND_LAG]
    rate = point.metrics.offered_rate
    if late and rate is not None:
        what = f"the client was late at {rate:g} requests/s: send lag {late[0].found}"
        remedy = "sweep from another machine, or end below: no server was tried by this"
        raise CouldNotRun(Problem(what, remedy))


def fixed(rates: Iterable[float], measure: Measure) -> Sweep:
    """Measure at each of `rates`, lowest first, until two in a row did not hold."""
    points: list[Benchmark] = []
    for rate in sorted(set(rates)):
        points.append(measure(rate))
        if len(points) >= BEYOND and not any(map(holds, points[-BEYOND:])):
            break
    return curve(points)


def automatic(measure: Measure, first: float = 1.0) -> Sweep:
    """Double the rate until it does not hold, then bisect, by ratio, to the knee.

    If `first` does not hold either, halve it down to a sixteenth. The knee is within 10%
    of the true one.
    """
    points = {first: measure(first)}
    factor = 2.0 if holds(points[first]) else 0.5
    rate = first
    while first / 16 < rate < _FASTEST and holds(points[rate]) == (factor > 1):
        rate *= factor
        points[rate] = measure(rate)
    good = [one for one, point in points.items() if holds(point)]
    bad = [one for one, point in points.items() if not holds(point)]
    if good and bad:
        _bisect(max(good), min(bad), measure, points)
    return curve(points.values())


def curve(points: Iterable[Benchmark], ended: str = "") -> Sweep:
    """Order what was measured, and find its knee."""
    ordered = sorted(points, key=_offered)
    knee = max(_held(ordered), default=None)
    return Sweep(points=tuple(ordered), knee=knee, ended=ended)


def holds(point: Benchmark) -> bool:
    """Whether the server carried the load: rate and objectives."""
    carried = point.metrics.carried
    return (carried is None or carried >= CARRIED) and good_share(point) >= GOOD


def good_share(point: Benchmark) -> float:
    """Share of all requests that met the objectives; a failed one did not."""
    metrics = point.metrics
    total = metrics.completed + metrics.failed
    return metrics.request_goodput * metrics.duration / total


def pareto(points: Sequence[Benchmark]) -> list[Benchmark]:
    """Give the points that no other beats in both throughput and median TPOT."""
    return [one for one in points if not any(_beats(other, one) for other in points)]


def _beats(other: Benchmark, one: Benchmark) -> bool:
    a, b = _worth(other), _worth(one)
    return all(x >= y for x, y in zip(a, b, strict=True)) and a != b


def _worth(point: Benchmark) -> tuple[float, float]:
    tpot = point.metrics.tpot_ms
    return point.metrics.output_throughput, -(tpot.median if tpot else 0.0)


def _bisect(
    low: float, high: float, measure: Measure, points: dict[float, Benchmark]
) -> None:
    while high / low > _PRECISION:
        middle = math.sqrt(low * high)
        points[middle] = measure(middle)
        low, high = (middle, high) if holds(points[middle]) else (low, middle)


def _held(points: Sequence[Benchmark]) -> Iterator[float]:
    """Give the rates up to the first that did not hold: luck beyond it counts not."""
    for point in points:
        if not holds(point) or math.isinf(_offered(point)):
            return
        yield _offered(point)


def _offered(point: Benchmark) -> float:
    rate = point.metrics.offered_rate
    return math.inf if rate is None else rate
