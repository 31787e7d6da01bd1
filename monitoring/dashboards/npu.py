"""The cards, from our readings or from mind-cluster's npu-exporter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.dashboards.form import dashboard
from monitoring.dashboards.panels import Query, facts, graph
from monitoring.rules.npu import either

if TYPE_CHECKING:
    from monitoring.dashboards.panels import Json, Panel

_CHIP = "NPU {{npu}} chip {{chip}}"


def npu() -> Json:
    """Health and heat, then memory and use, then what holds the card."""
    used, size = either("memory_used_bytes"), either("memory_size_bytes")
    state = (
        _chips("Health", "1 healthy, 0 not, -1 not known.", "none", either("health")),
        _chips("Temperature", "Of the chip.", "celsius", either("temperature_celsius")),
        _chips(
            "Power",
            "Of the chip; an A3 card tells it once.",
            "watt",
            either("power_watts"),
        ),
    )
    use = (
        _chips(
            "Memory",
            "HBM, or DDR on a 310P: share in use.",
            "percentunit",
            f"{used} / ({size} > 0)",
        ),
        _chips("Memory in use", "HBM, or DDR on a 310P.", "bytes", used),
        _chips(
            "AI Core",
            "Share of the AI Cores in use; 0 while a profiler runs.",
            "percentunit",
            either("aicore_utilization_ratio"),
        ),
    )
    holders = (
        _chips(
            "Processes", "More than ours is a surprise.", "none", "bundle_npu_processes"
        ),
        graph(
            "Memory by process",
            "The pid is the host's.",
            "bytes",
            Query("bundle_npu_process_memory_bytes", "NPU {{npu}} pid {{pid}}"),
            nothing="no readings",
        ),
        graph(
            "Error codes",
            "From npu-exporter only; none is good.",
            "none",
            Query("npu_chip_info_error_code", "NPU {{id}}"),
            nothing="none",
        ),
    )
    about = (
        facts("Chips", "As npu-smi names them.", "bundle_npu_info"),
        graph(
            "Age of the readings",
            "Beyond 60 s the chips are absent.",
            "s",
            Query("bundle_npu_readings_age_seconds", "age"),
            nothing="no readings",
        ),
    )
    rows = ((8, state), (8, use), (8, holders), (7, about))
    return dashboard("bundle-npu", "Chat model: NPU", rows)


def _chips(title: str, text: str, unit: str, expr: str) -> Panel:
    return graph(title, text, unit, Query(expr, _CHIP), nothing="no NPU")
