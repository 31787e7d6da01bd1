"""Deaths of the engine, counted by cause."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry

from bundle.causes import CAUSES
from monitoring.collector import Scrape
from monitoring.deaths import Deaths

if TYPE_CHECKING:
    from pathlib import Path


def watch(run_dir: Path) -> CollectorRegistry:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Scrape((Deaths(run_dir),)))
    return registry


def count(registry: CollectorRegistry, cause: str) -> float | None:
    return registry.get_sample_value("bundle_engine_deaths_total", {"cause": cause})


def die(run_dir: Path, time: float, cause: str) -> None:
    note = {"time": time, "cause": cause, "line": "what the log said"}
    (run_dir / "death.json").write_text(json.dumps(note))


def test_every_cause_is_there_before_the_first_death(tmp_path: Path) -> None:
    registry = watch(tmp_path)

    assert [count(registry, cause.id) for cause in CAUSES] == [0] * len(CAUSES)
    assert count(registry, "unknown") == 0


def test_a_death_is_counted_once_and_the_next_again(tmp_path: Path) -> None:
    registry = watch(tmp_path)
    assert count(registry, "out-of-memory") == 0

    die(tmp_path, 1, "out-of-memory")
    assert [count(registry, "out-of-memory") for _ in range(3)] == [1, 1, 1]

    die(tmp_path, 2, "out-of-memory")
    assert count(registry, "out-of-memory") == 2


def test_a_death_before_the_exporters_start_is_not_new(tmp_path: Path) -> None:
    die(tmp_path, 1, "disk-full")

    assert count(watch(tmp_path), "disk-full") == 0


def test_a_cause_that_nobody_knows_is_unknown(tmp_path: Path) -> None:
    registry = watch(tmp_path)
    assert count(registry, "unknown") == 0
    die(tmp_path, 1, "struck by lightning")

    assert count(registry, "unknown") == 1
    assert count(registry, "struck by lightning") is None


def test_a_broken_note_is_a_failure_and_no_crash(tmp_path: Path) -> None:
    (tmp_path / "death.json").write_text("{")
    registry = watch(tmp_path)

    labels = {"collector": "deaths"}
    assert registry.get_sample_value("bundle_collector_success", labels) == 0
