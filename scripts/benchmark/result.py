"""A run as one value: what was asked, what was found, and whether it holds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, ConfigDict

from bundle.model import Slo, Strict
from scripts.benchmark import run as runs
from scripts.benchmark import validity
from scripts.benchmark.lacks import lacks
from scripts.benchmark.metrics import Metrics, measure
from scripts.benchmark.record import Record, record
from scripts.benchmark.validity import Validity

if TYPE_CHECKING:
    from bundle.api import Server
    from scripts.benchmark.load import Load, Progress
    from scripts.benchmark.run import Run


class Shape(Strict):
    """A load, but for its chance; no rate means all at once, or a closed loop."""

    input_len: int
    output_len: int
    request_rate: float | None
    num_prompts: int
    concurrency: int | None = None
    min_seconds: float = 0.0
    input_len_range: float = 0.0
    prefix_len: int = 0
    turns: int = 1
    chats: int = 0


class Asked(Shape):
    """The load as it was asked for, of a model."""

    model: str
    seed: int
    warm_ups: int

    @property
    def shape(self) -> Shape:
        """What two runs that are compared must have in common."""
        return Shape(**{name: getattr(self, name) for name in Shape.model_fields})


class ServerSide(Strict):
    """What the server counted over the run; `None` for what its page lacks."""

    requests: float | None
    prompt_tokens: float | None
    generation_tokens: float | None
    cached_tokens: float | None
    mean_ttft_ms: float | None


def _told(errors: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(error for error in errors if error)


class Benchmark(Strict):
    """The result of a run.

    `lacks` names what the server does not take or tell. `started` is in seconds since the
    epoch. A file of `scripts.benchmark.superset` can be read as one: there, `errors` has
    an entry per request, and there are other keys.
    """

    model_config = ConfigDict(extra="ignore")

    asked: Asked
    slo: Slo
    metrics: Metrics
    validity: tuple[Validity, ...]
    errors: Annotated[tuple[str, ...], AfterValidator(_told)]
    started: float = 0.0
    client_cpu_share: float = 0.0
    server: ServerSide | None = None
    lacks: tuple[str, ...] = ()
    requests: tuple[Record, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether no check failed."""
        return not self.failed()

    def failed(self) -> list[Validity]:
        """Give the checks that failed."""
        return [one for one in self.validity if one.verdict == "fail"]


class Stopped(KeyboardInterrupt):
    """Ctrl-C, with the result of what was measured before it."""

    def __init__(self, result: Benchmark) -> None:
        """Hold `result`, which is invalid."""
        super().__init__()
        self.result = result


def benchmark(server: Server, load: Load, slo: Slo, progress: Progress) -> Benchmark:
    """Run `load` on `server`.

    Raises:
        CouldNotRun: the server does not answer, or no request came through.
        Stopped: Ctrl-C; has what was measured.
    """
    run = runs.run(server, load, progress)
    result = judge(run, load, slo)
    if run.unfinished is not None:
        raise Stopped(result)
    return result


def judge(run: Run, load: Load, slo: Slo) -> Benchmark:
    """Turn what came of the requests into a result."""
    outcomes = run.outcomes
    return Benchmark(
        asked=as_asked(load),
        slo=slo,
        metrics=measure(
            outcomes,
            load.open_rate * load.turns,
            slo,
            planned=load.turns == 1 and not load.concurrency,
        ),
        validity=validity.check(run, load),
        errors=tuple(outcome.error for outcome in outcomes),
        started=run.started,
        client_cpu_share=run.client_cpu_share,
        server=_server_side(run),
        lacks=lacks(run),
        requests=tuple(record(outcome, run.start) for outcome in outcomes),
    )


def as_asked(load: Load) -> Asked:
    """Give what of `load` a result keeps."""
    return Asked(
        model=load.model,
        input_len=load.input_len,
        output_len=load.output_len,
        request_rate=None if math.isinf(load.open_rate) else load.rate,
        num_prompts=load.count,
        seed=load.seed,
        warm_ups=load.warm_ups,
        concurrency=load.concurrency,
        min_seconds=load.min_seconds,
        input_len_range=load.input_len_range,
        prefix_len=load.prefix_len,
        turns=load.turns,
        chats=len(load.chats),
    )


def _server_side(run: Run) -> ServerSide | None:
    if not run.server.known:
        return None
    told = {name: getattr(run.server, name) for name in ServerSide.model_fields}
    return ServerSide(**told)
