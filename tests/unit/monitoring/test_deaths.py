"""Deaths of the engine, counted by cause."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry

from bundle.causes.table import CAUSES
from entrypoint.post_mortem import Coroner
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


def die(run_dir: Path, log: str) -> None:
    """Do what the listener does at a death, anew as after its restart."""
    coroner = Coroner(run_dir / "readings")
    coroner.hear(log)
    coroner.report()


def test_every_cause_is_there_before_the_first_death(tmp_path: Path) -> None:
    registry = watch(tmp_path)

    assert [count(registry, cause.id) for cause in CAUSES] == [0] * len(CAUSES)
    assert count(registry, "unknown") == 0


def test_a_death_is_counted_once_and_the_next_again(tmp_path: Path) -> None:
    registry = watch(tmp_path)
    assert count(registry, "npu-out-of-memory") == 0

    die(tmp_path, "RuntimeError: NPU out of memory")
    assert [count(registry, "npu-out-of-memory") for _ in range(3)] == [1, 1, 1]

    die(tmp_path, "RuntimeError: NPU out of memory")
    assert count(registry, "npu-out-of-memory") == 2


def test_a_cause_that_nobody_knows_is_unknown(tmp_path: Path) -> None:
    die(tmp_path, "struck by lightning")

    assert count(watch(tmp_path), "unknown") == 1


def test_a_broken_note_is_a_failure_and_no_crash(tmp_path: Path) -> None:
    (tmp_path / "readings").mkdir()
    (tmp_path / "readings/death.json").write_text(json.dumps({"deaths": 1}))
    registry = watch(tmp_path)

    labels = {"collector": "deaths"}
    assert registry.get_sample_value("bundle_collector_success", labels) == 0
