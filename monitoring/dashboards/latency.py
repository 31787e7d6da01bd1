"""The probe against the engine's own numbers, by percentile, with the objectives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.dashboards.form import dashboard
from monitoring.dashboards.panels import Query, graph
from monitoring.dashboards.queries import coarse, mean, probe_lines, quantile
from monitoring.rules.slo import SPANS, slow

if TYPE_CHECKING:
    from monitoring.dashboards.panels import Json, Panel

_COARSE = {"ttft": "time_to_first_token", "tpot": "time_per_output_token"}


def latency() -> Json:
    """TTFT and TPOT in a row each, then what they are made of."""
    parts = (
        graph(
            "E2EL of the probe",
            "Request sent to last token, 16 to 32 tokens.",
            "s",
            Query(quantile("e2e", 0.5), "p50"),
            Query(quantile("e2e", 0.9), "p90"),
        ),
        _mean("E2EL of all requests", "e2e_request_latency", "However long they are."),
        _mean("Queue time", "request_queue_time", "Before a request is scheduled."),
        _mean("ITL", "inter_token_latency", "Gap between two outputs."),
    )
    rows = ((8, _row("ttft")), (8, _row("tpot")), (7, parts))
    return dashboard("bundle-latency", "Chat model: latency", rows)


def _row(name: str) -> tuple[Panel, ...]:
    title = name.upper()
    return (
        graph(
            f"{title} of the probe",
            "Buckets of 5%. The p99 is over six hours: it needs many samples.",
            "s",
            *probe_lines(name),
            Query(quantile(name, 0.99, "6h"), "p99 of 6 h"),
        ),
        graph(
            f"{title} of all requests",
            "From the engine, without the network. The mean is exact; the quantiles are "
            "not: vLLM's buckets for TPOT end at 10 and 25 ms.",
            "s",
            Query(mean(_COARSE[name]), "mean"),
            Query(coarse(_COARSE[name], 0.5), "p50, coarse"),
            Query(f"max(bundle_slo_{name}_seconds)", "objective"),
        ),
        graph(
            f"{title} beyond the objective",
            "Share of the probes, over each window of the alerts.",
            "percentunit",
            *(Query(f"max({slow(name, span)})", span) for span in SPANS),
        ),
    )


def _mean(title: str, name: str, text: str) -> Panel:
    return graph(title, f"Mean, from the engine. {text}", "s", Query(mean(name), "mean"))
