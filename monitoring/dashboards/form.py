"""A dashboard and its panels as Grafana's JSON has them.

https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bundle.settings import EXPORTER_PORT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from monitoring.dashboards.panels import Json, Panel, Query

SOURCE = {"type": "prometheus", "uid": "${datasource}"}
WIDTH = 24  # columns of Grafana's grid


def dashboard(uid: str, title: str, rows: Sequence[tuple[int, Sequence[Panel]]]) -> Json:
    """Give the JSON: `rows` are pairs of a height and panels, which share the width."""
    return {
        "uid": uid,
        "title": title,
        "tags": ["ascend-chat-bundle"],
        "schemaVersion": 39,
        "version": 1,
        "editable": False,
        "timezone": "browser",
        "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": [_datasource()]},
        "annotations": {"list": []},
        "links": [_others(), _runbook()],
        "panels": _place(rows),
    }


def _place(rows: Sequence[tuple[int, Sequence[Panel]]]) -> list[Json]:
    placed: list[Json] = []
    top = 0
    for height, panels in rows:
        width = WIDTH // len(panels)
        for column, panel in enumerate(panels):
            at = {"x": column * width, "y": top, "w": width, "h": height}
            placed.append(_panel(panel, len(placed) + 1, at))
        top += height
    return placed


def _panel(panel: Panel, number: int, place: Json) -> Json:
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.description,
        "datasource": SOURCE,
        "gridPos": place,
        "targets": [_target(*pair) for pair in enumerate(panel.queries)],
        "options": panel.options,
        "fieldConfig": {
            "defaults": {"unit": panel.unit, "noValue": panel.nothing, **panel.defaults},
            "overrides": list(panel.overrides),
        },
    }


def _target(index: int, query: Query) -> Json:
    return {
        "refId": chr(ord("A") + index),
        "datasource": SOURCE,
        "expr": query.expr,
        "legendFormat": query.legend or "__auto",
        "instant": query.now,
        "range": not query.now,
        "format": "table" if query.now and "_info" in query.expr else "time_series",
    }


def _datasource() -> Json:
    return {
        "name": "datasource",
        "label": "Data source",
        "type": "datasource",
        "query": "prometheus",
    }


def _others() -> Json:
    return {
        "type": "dashboards",
        "title": "Dashboards",
        "tags": ["ascend-chat-bundle"],
        "asDropdown": True,
        "keepTime": True,
        "includeVars": True,
    }


def _runbook() -> Json:
    return {
        "type": "link",
        "title": "Runbook (docs/runbook.md)",
        "url": f"http://localhost:{EXPORTER_PORT}/runbook",
        "targetBlank": True,
    }
