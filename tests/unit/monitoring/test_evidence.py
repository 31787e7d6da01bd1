"""What the exporter tells of the last smoke test."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from monitoring.collector import Scrape
from monitoring.evidence import Evidence
from scripts.report.files import read

FOLDER = Path(__file__).parents[2] / "fixtures/watched/report"
WORD_PROBLEMS = "bundle_smoke_word_problems_right_ratio"


def page(folder: Path) -> CollectorRegistry:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Scrape((Evidence(folder),)))
    return registry


def test_a_real_report_is_told() -> None:
    report = read(FOLDER / "report.json")  # so the recording has today's form
    registry = page(FOLDER)
    assert report.benchmark
    assert report.benchmark.metrics.ttft_ms
    assert report.accuracy
    assert report.consistency

    shown = registry.get_sample_value("bundle_smoke_ttft_median_seconds")
    assert shown == report.benchmark.metrics.ttft_ms.median / 1000
    solved = registry.get_sample_value(WORD_PROBLEMS, {"data": "own-problems"})
    assert solved == report.accuracy.flexible.share
    consistent = registry.get_sample_value("bundle_smoke_consistent_ratio")
    assert consistent == report.consistency.consistent.share
    for verdict, value in (("pass", 1), ("fail", 0), ("not run", 0)):
        labels = {"suite": "standard", "verdict": verdict}
        assert registry.get_sample_value("bundle_smoke_verdict", labels) == value
    made = registry.get_sample_value("bundle_smoke_timestamp_seconds")
    assert made == 1796121754
    labels = {"check": "questions"}
    assert registry.get_sample_value("bundle_smoke_check_passed", labels) == 1


def test_no_report_is_no_metric_and_no_failure(tmp_path: Path) -> None:
    registry = page(tmp_path)

    assert registry.get_sample_value("bundle_smoke_timestamp_seconds") is None
    assert success(registry) == 1


def test_a_part_that_was_not_run_is_absent(tmp_path: Path) -> None:
    report = json.loads((FOLDER / "report.json").read_text())
    report["checks"][0]["verdict"] = "not run"
    left_out = dict.fromkeys(("benchmark", "accuracy", "consistency"))
    (tmp_path / "report.json").write_text(json.dumps({**report, **left_out}))
    registry = page(tmp_path)

    labels = {"check": "questions"}
    assert registry.get_sample_value("bundle_smoke_check_passed", labels) is None
    assert registry.get_sample_value("bundle_smoke_ttft_median_seconds") is None
    labels = {"data": "own-problems"}
    assert registry.get_sample_value(WORD_PROBLEMS, labels) is None
    assert registry.get_sample_value("bundle_smoke_consistent_ratio") is None
    assert success(registry) == 1


@pytest.mark.parametrize("content", ["", "[]", '{"made_at": "yesterday"}'])
def test_a_broken_report_is_a_failure_and_no_crash(content: str, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(content)

    assert success(page(tmp_path)) == 0


def success(registry: CollectorRegistry) -> float | None:
    labels = {"collector": "evidence"}
    return registry.get_sample_value("bundle_collector_success", labels)
