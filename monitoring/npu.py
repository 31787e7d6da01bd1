"""The NPUs, from the file that the server's container writes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from prometheus_client.core import GaugeMetricFamily

from bundle.errors import CouldNotRun, Problem
from bundle.note import read_note
from bundle.readings import FILE, Readings
from monitoring.collector import Incomplete

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from prometheus_client.core import Metric

    from bundle.npu_smi import Chip

FRESH_SECONDS = 60  # an older value is not shown: it would stand for what is not known

_GAUGES: tuple[tuple[str, str, Callable[[Chip], float | None]], ...] = (
    (
        "health",
        "1: npu-smi says OK; 0: it says something else; -1: it does not say.",
        lambda chip: health(chip.health),
    ),
    ("power_watts", "Power draw.", lambda chip: chip.power_watts),
    ("temperature_celsius", "Temperature.", lambda chip: chip.temperature_celsius),
    (
        "aicore_utilization_ratio",
        "Share of the AI Cores in use, 0 to 1.",
        lambda chip: chip.aicore_ratio,
    ),
    ("hbm_used_bytes", "HBM in use.", lambda chip: chip.hbm_used_bytes),
    ("hbm_size_bytes", "HBM of the chip.", lambda chip: chip.hbm_total_bytes),
    (
        "memory_used_bytes",
        "DDR in use; the 310P holds the model there.",
        lambda chip: chip.memory_used_bytes,
    ),
    ("memory_size_bytes", "DDR of the chip.", lambda chip: chip.memory_total_bytes),
    ("processes", "Processes on the chip.", lambda chip: len(chip.processes)),
)


class Npu:
    """The last readings if they are fresh, and always their age."""

    name = "npu"

    def __init__(
        self, run_dir: Path, *, expected: bool, now: Callable[[], float] = time.time
    ) -> None:
        """Read below `run_dir`; `expected` says that a missing file is a failure."""
        self._path = run_dir / FILE
        self._expected, self._now = expected, now

    def collect(self) -> list[Metric]:
        """Give the chips; raises `Incomplete` with the age alone if they are old."""
        readings = read_note(self._path, Readings)
        if readings is None:
            return self._nothing()
        age = max(0.0, self._now() - readings.time)
        metrics: list[Metric] = [
            GaugeMetricFamily(
                "bundle_npu_readings_age_seconds", "Age of the NPU readings.", age
            )
        ]
        if age > FRESH_SECONDS:
            raise Incomplete(metrics, f"readings newer than {FRESH_SECONDS} s")
        if readings.problem:
            raise Incomplete(metrics, f"chips: {readings.problem}")
        return [*metrics, *chip_metrics(readings.chips)]

    def _nothing(self) -> list[Metric]:
        if self._expected:
            what = f"{self._path} is not there"
            remedy = "share BUNDLE_RUN_DIR of the server with the exporter"
            raise CouldNotRun(Problem(what, remedy))
        return []


def chip_metrics(chips: tuple[Chip, ...]) -> list[Metric]:
    """Give a family per quantity, a sample per chip that tells it.

    The chip's name is `chip_name`: `model_name` is the language model in vLLM.
    """
    info = GaugeMetricFamily(
        "bundle_npu_info",
        "A chip, always 1.",
        labels=["npu", "chip", "chip_name", "bus_id"],
    )
    for chip in chips:
        info.add_metric([*_place(chip), chip.name, chip.bus_id or ""], 1)
    return [info, *(_gauge(*row, chips) for row in _GAUGES), _process_memory(chips)]


def health(word: str | None) -> float:
    """Code of npu-smi's word, as mind-cluster's npu-exporter has it; alert on != 1."""
    if word is None or word.upper() == "UNKNOWN":
        return -1
    return float(word.upper() == "OK")


def _gauge(
    name: str,
    text: str,
    value: Callable[[Chip], float | None],
    chips: tuple[Chip, ...],
) -> Metric:
    gauge = GaugeMetricFamily(f"bundle_npu_{name}", text, labels=["npu", "chip"])
    for chip in chips:
        if (found := value(chip)) is not None:
            gauge.add_metric(_place(chip), found)
    return gauge


def _process_memory(chips: tuple[Chip, ...]) -> Metric:
    gauge = GaugeMetricFamily(
        "bundle_npu_process_memory_bytes",
        "Memory of one process on the chip; the pid is the host's.",
        labels=["npu", "chip", "pid"],
    )
    for chip in chips:
        for process in chip.processes:
            if process.memory_bytes is not None:
                gauge.add_metric([*_place(chip), str(process.pid)], process.memory_bytes)
    return gauge


def _place(chip: Chip) -> list[str]:
    return [str(chip.npu), str(chip.chip)]
