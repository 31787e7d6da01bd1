"""The NPUs, from our readings or from mind-cluster's npu-exporter, whichever is there.

Ours first. The other's units: MB (of 2**20 bytes) and per cent; its chip is label `id`.
https://gitcode.com/Ascend/mind-cluster, component/npu-exporter
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.npu import FRESH_SECONDS
from monitoring.rules.form import Alert, Record

if TYPE_CHECKING:
    from bundle.model import Model

PLACE = "instance, npu, chip"

_ROWS = (
    ("health", "bundle_npu_health", "npu_chip_info_health_status"),
    (
        "temperature_celsius",
        "bundle_npu_temperature_celsius",
        "npu_chip_info_temperature",
    ),
    ("power_watts", "bundle_npu_power_watts", "npu_chip_info_power"),
    (
        "aicore_utilization_ratio",
        "bundle_npu_aicore_utilization_ratio",
        "npu_chip_info_utilization / 100",
    ),
    (
        "memory_used_bytes",
        "(bundle_npu_hbm_used_bytes or bundle_npu_memory_used_bytes)",
        "(npu_chip_info_hbm_used_memory or npu_chip_info_used_memory) * 1048576",
    ),
    (
        "memory_size_bytes",
        "(bundle_npu_hbm_size_bytes or bundle_npu_memory_size_bytes)",
        "(npu_chip_info_hbm_total_memory or npu_chip_info_total_memory) * 1048576",
    ),
)


def either(name: str) -> str:
    """Name of the recorded value."""
    return f"npu:{name}:either"


def records() -> list[Record]:
    """One value per chip and quantity."""
    return [Record(either(name), _either(ours, other)) for name, ours, other in _ROWS]


def alerts(model: Model) -> list[Alert]:
    """What makes a card worth looking at; a card that is off shows as a dead server."""
    limits = model.alerts
    used, size = either("memory_used_bytes"), either("memory_size_bytes")
    chip = "NPU {{ $labels.npu }} chip {{ $labels.chip }}"
    return [
        Alert(
            "NpuUnhealthy",
            f"{either('health')} != 1",  # -1: its health cannot be read
            "1m",
            "page",
            f"Answers may fail or stop at any time: {chip} is not healthy.",
        ),
        Alert(
            "NpuHot",
            f"{either('temperature_celsius')} > {limits.npu_celsius:g}",
            "5m",
            "ticket",
            f"Answers may become slow: {chip} has {{{{ $value }}}} degrees Celsius.",
        ),
        Alert(
            "NpuMemoryFull",
            f"{used} / ({size} > 0) > {limits.npu_memory_ratio:g}",
            "5m",
            "ticket",
            f"The engine may die of the next long request: the memory of {chip} is "
            "{{ $value | humanizePercentage }} full.",
        ),
        Alert(
            "NpuReadingsStale",
            f"bundle_npu_readings_age_seconds > {FRESH_SECONDS}",
            "2m",
            "ticket",
            "Nobody would see a sick card: the NPU readings are "
            "{{ $value | humanizeDuration }} old.",
        ),
    ]


def _either(ours: str, other: str) -> str:
    labelled = f'label_replace({other}, "npu", "$1", "id", "(.+)")'
    mine, theirs = (f"max by ({PLACE}) ({expr})" for expr in (ours, labelled))
    return f"{mine}\nor ({theirs} unless on () {ours})"
