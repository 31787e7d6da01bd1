"""A result beside an earlier one: the reference run, or a file of ours."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Literal

import yaml
from pydantic import Field, field_validator

from bundle.errors import CouldNotRun, Problem
from bundle.model import Strict
from scripts.benchmark.result import Benchmark, Shape
from scripts.benchmark.superset import summaries

if TYPE_CHECKING:
    from pathlib import Path

    from scripts.benchmark.metrics import Metrics
    from scripts.benchmark.result import Asked

REFERENCE = "baseline.yaml"  # in the model's folder
Verdict = Literal["faster", "same", "slower", "shown only"]

# What is compared, in the order of the reference's table; more is better for these.
MORE_IS_BETTER = (
    "request_throughput",
    "output_throughput",
    "max_output_tokens_per_s",
    "total_token_throughput",
)
LESS_IS_BETTER = (
    "mean_ttft_ms",
    "median_ttft_ms",
    "p99_ttft_ms",
    "mean_tpot_ms",
    "median_tpot_ms",
    "p99_tpot_ms",
)

_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Baseline(Strict):
    """Numbers to compare with, by vLLM's names.

    model and device: what they were measured with; the numbers of others are shown, not
    judged. tolerance: share by which a metric may be worse and still be the same.
    """

    source: str
    model: str
    device: str
    load: Shape
    tolerance: float = Field(ge=0, lt=1)
    metrics: dict[str, _Positive]

    @field_validator("metrics")
    @classmethod
    def _comparable(cls, metrics: dict[str, float]) -> dict[str, float]:
        if not {*MORE_IS_BETTER, *LESS_IS_BETTER} & {*metrics}:
            raise ValueError("no metric that is compared")
        return metrics


class Row(Strict):
    """One metric: ours, the baseline's, ours by the baseline's, and what that means."""

    metric: str
    value: float
    baseline: float
    ratio: float
    verdict: Verdict


def compare(metrics: Metrics, baseline: Baseline, *, same_device: bool) -> list[Row]:
    """Set each metric that both have side by side; a P99 of few samples is luck.

    A latency of 0 is none: one token has no TPOT.
    """
    ours = summaries(metrics)
    return [
        _row(
            name, float(ours[name]), baseline, judge=same_device and _known(name, metrics)
        )
        for name in (*MORE_IS_BETTER, *LESS_IS_BETTER)
        if name in baseline.metrics and ours[name] > 0
    ]


def same_load(asked: Asked, baseline: Baseline) -> bool:
    """Whether both put the same load on the server."""
    return asked.shape == baseline.load


def read(path: Path) -> Baseline:
    """Read a `baseline.yaml`, or an earlier `benchmark.json` of this command.

    Raises:
        CouldNotRun: it is neither.
    """
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            return _of_result(Benchmark.model_validate(json.loads(text)), path)
        return Baseline.model_validate(yaml.safe_load(text))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        first = str(error).splitlines()[0]
        what = f"{path} is no baseline: {first}"
        remedy = "name a benchmark.json of this command, or a baseline.yaml"
        raise CouldNotRun(Problem(what, remedy)) from error


def _of_result(result: Benchmark, path: Path) -> Baseline:
    """Take an earlier run on the same device for the baseline."""
    found = summaries(result.metrics)
    names = (*MORE_IS_BETTER, *LESS_IS_BETTER)
    return Baseline(
        source=str(path) + ("" if result.valid else ", an invalid run"),
        model=result.asked.model,
        device="",
        load=result.asked.shape,
        tolerance=0.05,
        metrics={name: found[name] for name in names if found[name] > 0},
    )


def _known(name: str, metrics: Metrics) -> bool:
    percentile, _, latency = name.partition("_")
    found = getattr(metrics, latency) if percentile == "p99" else None
    return found is None or found.p99_supported


def _row(name: str, value: float, baseline: Baseline, *, judge: bool) -> Row:
    before = baseline.metrics[name]
    ratio = value / before
    gain = ratio if name in MORE_IS_BETTER else 1 / ratio if ratio else 0.0
    return Row(
        metric=name,
        value=value,
        baseline=before,
        ratio=ratio,
        verdict=_verdict(gain, baseline.tolerance) if judge else "shown only",
    )


def _verdict(gain: float, tolerance: float) -> Verdict:
    if gain < 1 - tolerance:
        return "slower"
    return "faster" if gain > 1 + tolerance else "same"


def line(row: Row) -> str:
    """Say one comparison in a line."""
    return f"{row.value:9.2f} by {row.baseline:9.2f} = {row.ratio:.3f}, {row.verdict}"
