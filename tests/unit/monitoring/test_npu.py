"""NPU readings: fresh, old, absent and broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from monitoring.collector import Scrape
from monitoring.npu import Npu, health

WATCHED = Path(__file__).parents[2] / "fixtures/watched/run"
RECORDED = json.loads((WATCHED / "readings/npu.json").read_text())
TIME = RECORDED["time"]


def page(run_dir: Path, now: float, *, expected: bool = True) -> CollectorRegistry:
    """Give the exporter's page with this source alone."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Scrape((Npu(run_dir, expected=expected, now=lambda: now),)))
    return registry


def write(folder: Path, content: object) -> Path:
    (folder / "readings").mkdir()
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / "readings/npu.json").write_text(text)
    return folder


def success(registry: CollectorRegistry) -> float | None:
    return registry.get_sample_value("bundle_collector_success", {"collector": "npu"})


def test_fresh_readings_are_there_in_base_units() -> None:
    registry = page(WATCHED, TIME + 7)
    chip = {"npu": "0", "chip": "0"}

    assert success(registry) == 1
    assert registry.get_sample_value("bundle_npu_readings_age_seconds") == 7
    for name, value in (
        ("health", 1),
        ("power_watts", 92.5),
        ("aicore_utilization_ratio", 0.37),
        ("hbm_used_bytes", 61504 * 2**20),
        ("hbm_size_bytes", 65536 * 2**20),
        ("processes", 1),
    ):
        assert registry.get_sample_value(f"bundle_npu_{name}", chip) == value
    assert registry.get_sample_value("bundle_npu_memory_used_bytes", chip) is None
    process = {**chip, "pid": "41233"}
    used = registry.get_sample_value("bundle_npu_process_memory_bytes", process)
    assert used == 58101 * 2**20


def test_the_chips_name_is_no_model_name() -> None:
    labels = {"npu": "0", "chip": "0", "chip_name": "910B3", "bus_id": "0000:C1:00.0"}

    assert page(WATCHED, TIME).get_sample_value("bundle_npu_info", labels) == 1


def test_old_readings_are_absent_and_their_age_is_there() -> None:
    registry = page(WATCHED, TIME + 61)

    assert registry.get_sample_value("bundle_npu_readings_age_seconds") == 61
    assert (
        registry.get_sample_value("bundle_npu_health", {"npu": "0", "chip": "0"}) is None
    )
    assert success(registry) == 0


def test_a_clock_that_is_behind_gives_no_negative_age() -> None:
    registry = page(WATCHED, TIME - 3)

    assert registry.get_sample_value("bundle_npu_readings_age_seconds") == 0


@pytest.mark.parametrize(("expected", "then"), [(True, 0), (False, 1)])
def test_a_missing_file_fails_only_where_an_npu_is_expected(
    tmp_path: Path, *, expected: bool, then: float
) -> None:
    registry = page(tmp_path, TIME, expected=expected)

    assert success(registry) == then
    assert registry.get_sample_value("bundle_npu_readings_age_seconds") is None


def test_a_problem_is_told_and_no_chip_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    what = "npu-smi info gave no answer within 5 s"
    folder = write(tmp_path, {**RECORDED, "problem": what})

    assert success(page(folder, TIME)) == 0
    assert what in capsys.readouterr().err


def _changed(**change: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever breaks it
    return {**RECORDED, "chips": [{**RECORDED["chips"][0], **change}]}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        '{"time": NaN, "problem": null, "chips": []}',
        {"problem": None, "chips": []},
        _changed(power_watts="hot"),
        _changed(hbm_used_bytes="many"),
        _changed(processes=None),
        _changed(temperature=3),
    ],
    ids=str,
)
def test_a_broken_file_is_a_failure_and_no_crash(tmp_path: Path, content: object) -> None:
    assert success(page(write(tmp_path, content), TIME)) == 0


@pytest.mark.parametrize(
    ("word", "code"),
    [
        ("OK", 1),
        ("Warning", 0),
        ("Alarm", 0),
        ("Critical", 0),
        ("UNKNOWN", -1),
        (None, -1),
    ],
)
def test_health(word: str | None, code: float) -> None:
    assert health(word) == code
