"""Two servers by turns: a paired ratio, in which what both suffer cancels out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bundle.model import Strict
from scripts.benchmark.baseline import LESS_IS_BETTER, MORE_IS_BETTER
from scripts.benchmark.result import Benchmark
from scripts.benchmark.superset import summaries
from scripts.statistics import Interval, paired_ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Measure = Callable[[], Benchmark]

Pair = tuple[Benchmark, Benchmark]  # ours and theirs of one round

ROUNDS = 8
# At this rate the load, not the server, sets the first; a P99 of few samples is the luck
# of one request.
COMPARED = tuple(
    name
    for name in (*MORE_IS_BETTER, *LESS_IS_BETTER)
    if not name.startswith(("p99_", "request_", "total_", "max_"))
)


class Paired(Strict):
    """One metric over all rounds: ours by theirs, with its 95% interval.

    `regression`: ours is worse, and the interval leaves no doubt.
    """

    metric: str
    ratio: float
    interval: Interval
    regression: bool


class Against(Strict):
    """Rounds on two servers; a run that was stopped has fewer pairs than `rounds`."""

    ours: str
    theirs: str
    rounds: int
    pairs: tuple[Pair, ...]
    rows: tuple[Paired, ...]

    @property
    def invalid(self) -> int:
        """How many runs do not hold."""
        return sum(not one.valid for pair in self.pairs for one in pair)

    def title(self) -> str:
        """Say who was measured, and how often."""
        done = f"{len(self.pairs)} of {self.rounds} rounds by turns"
        return f"ours {self.ours} by theirs {self.theirs}, {done}"


def by_turns(ours: Measure, theirs: Measure, rounds: int = ROUNDS) -> Iterator[Pair]:
    """Measure A B, B A, A B, …: a drift of the machine then favours neither."""
    for turn in range(rounds):
        yield (ours(), theirs()) if turn % 2 == 0 else (theirs(), ours())[::-1]


def compare(ours: str, theirs: str, rounds: int, pairs: Sequence[Pair]) -> Against:
    """Compare the servers at two URLs by the rounds that were measured, at least one."""
    rows = paired([a for a, _ in pairs], [b for _, b in pairs])
    return Against(
        ours=ours, theirs=theirs, rounds=rounds, pairs=tuple(pairs), rows=tuple(rows)
    )


def paired(ours: Sequence[Benchmark], theirs: Sequence[Benchmark]) -> list[Paired]:
    """Compare round by round; each of both must have as many rounds.

    A latency that is 0 in some run is left out: one token, or all in one piece, has no
    TPOT.
    """
    runs = (*ours, *theirs)
    known = [name for name in COMPARED if min(_values(name, runs)) > 0]
    return [_paired(name, ours, theirs) for name in known]


def _paired(name: str, ours: Sequence[Benchmark], theirs: Sequence[Benchmark]) -> Paired:
    ratio, interval = paired_ratio(_values(name, ours), _values(name, theirs))
    # The end that is nearest to good; an unknown one accuses nobody.
    if name in MORE_IS_BETTER:
        surely_worse = interval.high is not None and interval.high < 1
    else:
        surely_worse = interval.low is not None and interval.low > 1
    return Paired(
        metric=name,
        ratio=ratio,
        interval=interval,
        regression=surely_worse,
    )


def _values(name: str, results: Sequence[Benchmark]) -> list[float]:
    return [float(summaries(one.metrics)[name]) for one in results]


def line(row: Paired) -> str:
    """Say one comparison in a line."""
    low, high = row.interval.low, row.interval.high
    if low is None or high is None:
        return f"{row.ratio:.3f}, too few rounds for an interval"
    told = ": slower" if row.regression else ""
    return f"{row.ratio:.3f} (95% interval {low:.3f} to {high:.3f}){told}"
