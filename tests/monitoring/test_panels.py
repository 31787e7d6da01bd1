"""Every panel of every dashboard shows data of a run."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from monitoring.dashboards.files import DASHBOARDS, text
from tests.fixtures.monitored_server import Truth, serve
from tests.monitoring.faster import ROOT
from tests.monitoring.stack import running, wait

if TYPE_CHECKING:
    from pathlib import Path

READINGS = ROOT / "tests/fixtures/watched/run/readings/npu.json"


def expressions() -> dict[str, str]:
    """Give every expression by its dashboard, panel and place."""
    return {
        f"{name} {panel['title']} {target['refId']}": target["expr"].replace(
            "$__rate_interval", "10s"
        )
        for name in DASHBOARDS
        for panel in json.loads(text(name))["panels"]
        for target in panel["targets"]
    }


def test_no_query_is_without_data(tmp_path: Path) -> None:
    readings = json.loads(READINGS.read_text()) | {"time": time.time()}
    (tmp_path / "readings").mkdir()
    (tmp_path / "readings/npu.json").write_text(json.dumps(readings))
    environ = {"BUNDLE_DEVICE": "ascend", "BUNDLE_RUN_DIR": str(tmp_path)}
    with (
        serve(Truth(latencies=((0.01, 0.001),))) as url,
        running(tmp_path, url, **environ) as stack,
    ):
        wait(
            "no p50 yet",
            lambda: (
                stack.value("bundle_probe_ttft_seconds_count") > 20
                and bool(stack.query("bundle:probe_ttft_slow:ratio_rate1h"))
            ),
        )
        empty = [where for where, expr in expressions().items() if not stack.query(expr)]

    assert empty == []
