"""The rows of the NPU table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from monitoring.page.found import Found


@dataclass(frozen=True)
class Chip:
    """One row of the NPU table; `None` is not told."""

    place: str
    name: str
    healthy: float | None
    memory_used: float | None
    memory_size: float | None
    aicore: float | None
    celsius: float | None
    watts: float | None


def chips(found: Found) -> tuple[Chip, ...]:
    """Give a row per chip that was read just now."""
    return tuple(_chip(found, s.labels) for s in found.samples("bundle_npu_info"))


def _chip(found: Found, labels: dict[str, str]) -> Chip:
    place = {"npu": labels["npu"], "chip": labels["chip"]}

    def value(*names: str) -> float | None:
        told = (found.total(f"bundle_npu_{name}", **place) for name in names)
        return next((one for one in told if one is not None), None)

    return Chip(
        f"{labels['npu']}/{labels['chip']}",
        labels["chip_name"],
        value("health"),
        value("hbm_used_bytes", "memory_used_bytes"),
        value("hbm_size_bytes", "memory_size_bytes"),
        value("aicore_utilization_ratio"),
        value("temperature_celsius"),
        value("power_watts"),
    )
