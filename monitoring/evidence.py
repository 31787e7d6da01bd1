"""The last smoke test, from its `report.json`, where the exporter can see it."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Literal, get_args

from prometheus_client.core import GaugeMetricFamily
from pydantic import BaseModel, PositiveInt

from bundle.note import read_note

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from prometheus_client.core import Metric

FILE = "report.json"

Verdict = Literal["pass", "fail", "not run"]


class Check(BaseModel):
    """One line of the report's verdict table."""

    name: str
    verdict: Verdict


class Latency(BaseModel):
    """Milliseconds over the requests of the benchmark."""

    median: float
    p90: float


class Metrics(BaseModel):
    """Numbers of the benchmark; tokens per second."""

    ttft_ms: Latency | None
    tpot_ms: Latency | None
    output_throughput: float


class Benchmark(BaseModel):
    """Its numbers only."""

    metrics: Metrics


class Questions(BaseModel):
    """Share of the questions that were answered rightly."""

    share: float


class Rate(BaseModel):
    """`count` of `total`, which is at least 1."""

    count: int
    total: PositiveInt


class ProblemSet(BaseModel):
    """Of the settings of a run of word problems, which problems they were."""

    data: str


class Accuracy(BaseModel):
    """Word problems; `flexible` is the rate that the published score is held against."""

    settings: ProblemSet
    flexible: Rate


class Consistency(BaseModel):
    """Answers that agree with those of the reference."""

    consistent: Rate


class Report(BaseModel):
    """What the exporter tells of a report; its whole form is docs/report.schema.json."""

    made_at: dt.datetime
    suite: str
    verdict: Verdict
    checks: tuple[Check, ...]
    benchmark: Benchmark | None
    questions: Questions | None
    accuracy: Accuracy | None = None
    consistency: Consistency | None = None


class Evidence:
    """Verdict, time and numbers of the last smoke test; nothing if there was none."""

    name = "evidence"

    def __init__(self, folder: Path) -> None:
        """Read the report in `folder`."""
        self._path = folder / FILE

    def collect(self) -> list[Metric]:
        """Give what the report says; raises `CouldNotRun` if it is broken."""
        report = read_note(self._path, Report)
        if report is None:
            return []
        made = GaugeMetricFamily(
            "bundle_smoke_timestamp_seconds",
            "When the last smoke test was made; Unix time.",
            report.made_at.timestamp(),
        )
        return [made, _verdict(report), _checks(report), *_numbers(report)]


def _verdict(report: Report) -> Metric:
    family = GaugeMetricFamily(
        "bundle_smoke_verdict",
        "1 for the verdict of the last smoke test, 0 for the others.",
        labels=["suite", "verdict"],
    )
    for verdict in get_args(Verdict):
        family.add_metric([report.suite, verdict], float(verdict == report.verdict))
    return family


def _checks(report: Report) -> Metric:
    family = GaugeMetricFamily(
        "bundle_smoke_check_passed",
        "Whether a check of the last smoke test passed; absent if it was not run.",
        labels=["check"],
    )
    for check in report.checks:
        if check.verdict != "not run":
            family.add_metric([check.name], float(check.verdict == "pass"))
    return family


def _numbers(report: Report) -> Iterator[Metric]:
    if report.questions:
        share = report.questions.share
        yield _gauge("questions_right_ratio", "Share of right answers", share)
    if report.accuracy:
        yield _word_problems(report.accuracy)
    if report.consistency:
        share = _share(report.consistency.consistent)
        yield _gauge("consistent_ratio", "Share of answers as the reference's", share)
    if report.benchmark:
        metrics = report.benchmark.metrics
        throughput = metrics.output_throughput
        yield _gauge("output_tokens_per_second", "Output throughput", throughput)
        yield from _latency("ttft", metrics.ttft_ms)
        yield from _latency("tpot", metrics.tpot_ms)


def _word_problems(found: Accuracy) -> Metric:
    family = GaugeMetricFamily(
        "bundle_smoke_word_problems_right_ratio",
        "Share of word problems solved in the last smoke test; only `gsm8k` compares "
        "with a published score.",
        labels=["data"],
    )
    family.add_metric([found.settings.data], _share(found.flexible))
    return family


def _share(rate: Rate) -> float:
    return rate.count / rate.total


def _latency(name: str, found: Latency | None) -> Iterator[Metric]:
    if found:
        title = name.upper()
        yield _gauge(f"{name}_median_seconds", f"Median {title}", found.median / 1000)
        yield _gauge(
            f"{name}_p90_seconds", f"90th percentile of {title}", found.p90 / 1000
        )


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(
        f"bundle_smoke_{name}", f"{text} in the last smoke test.", value
    )
