"""A run with a baseline beside it: the reference run's, or one that is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bundle.errors import CouldNotRun, Problem
from bundle.model import Strict
from scripts.benchmark import baseline
from scripts.benchmark.baseline import Baseline, Row

if TYPE_CHECKING:
    from pathlib import Path

    from scripts.benchmark.result import Asked, Benchmark


class Beside(Strict):
    """The baseline, and each metric that both have."""

    baseline: Baseline
    rows: tuple[Row, ...]

    @property
    def slower(self) -> bool:
        """Whether a metric is worse than the baseline by more than its tolerance."""
        return any(row.verdict == "slower" for row in self.rows)

    @property
    def title(self) -> str:
        """What the baseline is of."""
        known = self.baseline
        return ": ".join(filter(None, (known.source, f"{known.model} {known.device}")))


def reference(result: Benchmark, folder: Path, *, on_card: bool) -> Beside | None:
    """Give the reference in the model's `folder`, if the load of `result` is its."""
    path = folder / baseline.REFERENCE
    if not path.exists():
        return None
    known = baseline.read(path)
    if not baseline.same_load(result.asked, known):
        return None
    return beside(result, known, on_card=on_card)


def named(path: Path, asked: Asked) -> Baseline:
    """Give the baseline at `path`; raises `CouldNotRun` if it is of another load.

    Read it before the run, which may write its own result there.
    """
    known = baseline.read(path)
    if not baseline.same_load(asked, known):
        what = f"{path} is of another load: {known.load}"
        raise CouldNotRun(Problem(what, "run with that load, or name another baseline"))
    return known


def beside(result: Benchmark, known: Baseline, *, on_card: bool) -> Beside:
    """Judge by a baseline of this device and model; another's is shown only."""
    same = known.model == result.asked.model and (on_card or not known.device)
    rows = baseline.compare(result.metrics, known, same_device=same)
    return Beside(baseline=known, rows=tuple(rows))
