"""All dashboards, by the name of the file that Grafana reads."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from monitoring.dashboards.capacity import capacity
from monitoring.dashboards.evidence import evidence
from monitoring.dashboards.latency import latency
from monitoring.dashboards.npu import npu
from monitoring.dashboards.overview import overview

if TYPE_CHECKING:
    from collections.abc import Callable

    from monitoring.dashboards.panels import Json

DASHBOARDS: dict[str, Callable[[], Json]] = {
    "overview.json": overview,
    "latency.json": latency,
    "capacity.json": capacity,
    "npu.json": npu,
    "evidence.json": evidence,
}


def text(name: str) -> str:
    """Give the JSON of one dashboard."""
    return json.dumps(DASHBOARDS[name](), indent=2, ensure_ascii=False) + "\n"
