"""Expressions that several dashboards share.

A quantile needs samples: one probe in 15 s is 60 in 15 minutes, enough for a p90; a p99
takes six hours. So these windows are fixed, while rates follow the zoom.
"""

from __future__ import annotations

from monitoring.dashboards.panels import Query

RATE = "$__rate_interval"


def quantile(name: str, share: float, span: str = "15m") -> str:
    """Quantile of a latency as the probe saw it."""
    buckets = f"sum by (le) (rate(bundle_probe_{name}_seconds_bucket[{span}]))"
    return f"histogram_quantile({share:g}, {buckets})"


def coarse(name: str, share: float) -> str:
    """Quantile from the engine's own buckets: off by up to 70%, for comparison only."""
    buckets = f"sum by (le) (rate(bundle_engine_{name}_seconds_bucket[15m]))"
    return f"histogram_quantile({share:g}, {buckets})"


def mean(name: str) -> str:
    """Mean of an engine's histogram; exact, whatever its buckets are."""
    total, count = (
        f"sum(rate(bundle_engine_{name}_seconds_{part}[{RATE}]))"
        for part in ("sum", "count")
    )
    return f"{total} / ({count} > 0)"


def probe_lines(name: str) -> tuple[Query, ...]:
    """Give p50, p90, and the line that they should stay below."""
    return (
        Query(quantile(name, 0.5), "p50"),
        Query(quantile(name, 0.9), "p90"),
        Query(f"max(bundle_slo_{name}_seconds)", "objective"),
    )


def rate(name: str, by: str = "") -> str:
    """Per second, over all engines."""
    grouped = f"sum by ({by}) " if by else "sum"
    return f"{grouped}(rate(bundle_{name}_total[{RATE}]))"
