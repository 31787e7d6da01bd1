"""What the person on call needs, on one screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.dashboards.form import dashboard
from monitoring.dashboards.panels import Query, graph, tile
from monitoring.dashboards.queries import probe_lines, quantile, rate

if TYPE_CHECKING:
    from monitoring.dashboards.panels import Json

_RED_BELOW_ONE = ((None, "red"), (1, "green"))


def overview() -> Json:
    """Is it up, right, fast, full?"""
    tiles = (
        tile(
            "Server",
            "Whether `/health` says 200. A server that hangs says so too: see Canary.",
            "none",
            "min(bundle_server_up) or vector(0)",
            good=_RED_BELOW_ONE,
            words={"0": "DOWN", "1": "up"},
        ),
        tile(
            "Canary",
            "Share of right answers to easy questions in 10 minutes.",
            "percentunit",
            "sum(increase(bundle_canary_correct_total[10m])) / "
            "(sum(increase(bundle_canary_correct_total[10m])) + "
            "sum(increase(bundle_canary_wrong_total[10m])) > 0)",
            nothing="no probe",
            good=((None, "red"), (0.5, "orange"), (0.99, "green")),
        ),
        tile(
            "Alerts",
            "How many fire now, the Watchdog not counted.",
            "none",
            'count(ALERTS{alertstate="firing",alertname!="Watchdog"}) or vector(0)',
            good=((None, "green"), (1, "red")),
        ),
        tile("TTFT p50", "Probe, 15 minutes.", "s", quantile("ttft", 0.5)),
        tile("TPOT p50", "Probe, 15 minutes.", "s", quantile("tpot", 0.5)),
        tile(
            "Running",
            "Requests in the batch.",
            "none",
            "sum(bundle_engine_requests_running)",
        ),
        tile(
            "Waiting",
            "Requests in the queue.",
            "none",
            "sum(bundle_engine_requests_waiting)",
        ),
        tile(
            "Tokens per second",
            "Generated, over 5 minutes.",
            "none",
            "sum(rate(bundle_engine_generation_tokens_total[5m]))",
        ),
    )
    speed = (
        graph("TTFT", "As a client sees it; cold cache.", "s", *probe_lines("ttft")),
        graph("TPOT", "As a client sees it.", "s", *probe_lines("tpot")),
    )
    load = (
        graph(
            "Requests per second",
            "Ended, by finished_reason; abort and error are failures.",
            "reqps",
            Query(rate("engine_requests", "finished_reason"), "{{finished_reason}}"),
        ),
        graph(
            "Batch and queue",
            "Requests that run and that wait.",
            "none",
            Query("sum(bundle_engine_requests_running)", "running"),
            Query("sum(bundle_engine_requests_waiting)", "waiting"),
        ),
        graph(
            "KV cache",
            "Share in use; at 1 requests wait or are preempted.",
            "percentunit",
            Query("max(bundle_engine_kv_cache_usage_ratio)", "in use"),
        ),
    )
    trouble = (
        graph(
            "Probes without an answer",
            "Per second, by reason.",
            "ops",
            Query(rate("probe_failures", "reason"), "{{reason}}"),
        ),
        graph(
            "NPU health",
            "1 is healthy, 0 is not, -1 is not known.",
            "none",
            Query("npu:health:either", "NPU {{npu}} chip {{chip}}"),
            nothing="no NPU",
        ),
    )
    rows = ((4, tiles), (7, speed), (7, load), (6, trouble))
    return dashboard("bundle-overview", "Chat model: overview", rows)
