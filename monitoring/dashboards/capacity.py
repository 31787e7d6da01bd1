"""How much it does, and what it runs out of first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.dashboards.form import dashboard
from monitoring.dashboards.panels import Query, graph
from monitoring.dashboards.queries import RATE, rate

if TYPE_CHECKING:
    from monitoring.dashboards.panels import Json


def capacity() -> Json:
    """Tokens and requests, then batch, queue and caches."""
    hits, lookups = (
        rate(f"engine_prefix_cache_{part}_tokens") for part in ("hits", "queries")
    )
    work = (
        graph(
            "Tokens per second",
            "Prompts read, and tokens generated.",
            "none",
            Query(rate("engine_prompt_tokens"), "prompt"),
            Query(rate("engine_generation_tokens"), "generated"),
        ),
        graph(
            "Tokens per request",
            "Generated tokens by ended requests.",
            "none",
            Query(
                f"{rate('engine_generation_tokens')} / ({rate('engine_requests')} > 0)",
                "generated",
            ),
        ),
        graph(
            "Requests per second",
            "Ended, by finished_reason.",
            "reqps",
            Query(rate("engine_requests", "finished_reason"), "{{finished_reason}}"),
        ),
    )
    room = (
        graph(
            "Batch and queue",
            "Requests that run and that wait.",
            "none",
            Query("sum(bundle_engine_requests_running)", "running"),
            Query("sum(bundle_engine_requests_waiting)", "waiting"),
        ),
        graph(
            "KV cache",
            "Share in use, by engine.",
            "percentunit",
            Query("bundle_engine_kv_cache_usage_ratio", "engine {{engine}}"),
        ),
        graph(
            "Preemptions per second",
            "Requests put back into the queue; each is computed again.",
            "ops",
            Query(rate("engine_preemptions"), "preempted"),
        ),
    )
    rest = (
        graph(
            "Prefix cache",
            "Share of prompt tokens that were not computed again; the probe's never are.",
            "percentunit",
            Query(f"{hits} / ({lookups} > 0)", "hits"),
        ),
        graph(
            "Probes",
            "Sent, and skipped because requests were waiting.",
            "ops",
            Query(rate("probe_attempts"), "sent"),
            Query(rate("probe_skipped"), "skipped"),
        ),
        graph(
            "HTTP requests per second",
            "By status, of the engine's server.",
            "reqps",
            Query(
                f'sum by (status) (rate(http_requests_total{{job="engine"}}[{RATE}]))',
                "{{status}}",
            ),
        ),
    )
    rows = ((8, work), (8, room), (8, rest))
    return dashboard("bundle-capacity", "Chat model: capacity", rows)
