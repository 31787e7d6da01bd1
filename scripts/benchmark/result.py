"""A run as one value: what was asked, what was found, and whether it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bundle.model import Slo, Strict
from scripts.benchmark import load as loads
from scripts.benchmark import validity
from scripts.benchmark.metrics import Metrics, measure
from scripts.benchmark.validity import Validity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bundle.api import Server
    from scripts.benchmark.load import Load, Progress
    from scripts.benchmark.outcome import Outcome


class Asked(Strict):
    """The load as it was asked for; no rate means all at once."""

    model: str
    input_len: int
    output_len: int
    request_rate: float | None
    num_prompts: int
    seed: int
    warm_ups: int


class Benchmark(Strict):
    """The result of a run."""

    asked: Asked
    slo: Slo
    metrics: Metrics
    validity: tuple[Validity, ...]
    errors: tuple[str, ...]

    @property
    def valid(self) -> bool:
        """Whether no check failed."""
        return not self.failed()

    def failed(self) -> list[Validity]:
        """Give the checks that failed."""
        return [one for one in self.validity if one.verdict == "fail"]


def benchmark(server: Server, load: Load, slo: Slo, progress: Progress) -> Benchmark:
    """Run `load` on `server`; raises `CouldNotRun` like `scripts.benchmark.load.run`."""
    return judge(loads.run(server, load, progress), load, slo)


def judge(outcomes: Sequence[Outcome], load: Load, slo: Slo) -> Benchmark:
    """Turn what came of the requests into a result."""
    rate = None if load.rate == float("inf") else load.rate
    return Benchmark(
        asked=Asked(
            model=load.model,
            input_len=load.input_len,
            output_len=load.output_len,
            request_rate=rate,
            num_prompts=load.num_prompts,
            seed=load.seed,
            warm_ups=load.warm_ups,
        ),
        slo=slo,
        metrics=measure(outcomes, load.input_len, load.rate, slo),
        validity=validity.check(outcomes, load),
        errors=tuple(outcome.error for outcome in outcomes if outcome.error),
    )
