"""TTFT and TPOT against their objectives: how fast the error budget burns.

Two windows each, of which the short one ends the alert soon after the trouble:
https://sre.google/workbook/alerting-on-slos/, section "Multiwindow, Multi-Burn-Rate".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prometheus_client.utils import floatToGoString

from monitoring.rules.form import Alert, Record

if TYPE_CHECKING:
    from bundle.model import Model
    from monitoring.rules.form import Severity

SPANS = ("5m", "30m", "1h", "2h", "6h", "1d")


@dataclass(frozen=True)
class Burn:
    """Alert when both windows burn `factor` times as fast as the budget allows.

    `minimum`: probes in the long window; of few samples, one slow one is a large share.
    """

    short: str
    long: str
    factor: float
    minimum: int
    severity: Severity


BURNS = (
    Burn("5m", "1h", 14.4, 20, "page"),
    Burn("30m", "6h", 6, 60, "page"),
    Burn("2h", "1d", 3, 200, "ticket"),
)


def records(model: Model) -> list[Record]:
    """Share of probes that missed an objective, over each span; absent without probes."""
    objectives = (("ttft", model.slo.ttft_seconds), ("tpot", model.slo.tpot_seconds))
    return [
        Record(slow(name, span), _slow_share(name, _le(seconds), span))
        for name, seconds in objectives
        for span in SPANS
    ]


def alerts(model: Model) -> list[Alert]:
    """Three alerts per objective, which share a name: what to do is the same."""
    rows = (
        ("TtftSlow", "ttft", f"{model.slo.ttft_seconds:g} s until the first token"),
        ("TpotSlow", "tpot", f"{model.slo.tpot_seconds:g} s per further token"),
    )
    budget = 1 - model.alerts.slo_share
    return [
        Alert(
            title,
            _burns(name, burn, budget),
            "1m",
            burn.severity,
            f"Users wait longer than {limit}: "
            f"{{{{ $value | humanizePercentage }}}} of the probes in {burn.short}.",
            window=burn.short,
        )
        for title, name, limit in rows
        for burn in BURNS
    ]


def slow(name: str, span: str) -> str:
    """Name of the recorded share."""
    return f"bundle:probe_{name}_slow:ratio_rate{span}"


def _slow_share(name: str, le: str, span: str) -> str:
    within = (
        f'sum by (job) (rate(bundle_probe_{name}_seconds_bucket{{le="{le}"}}[{span}]))'
    )
    every = f"sum by (job) (rate(bundle_probe_{name}_seconds_count[{span}]))"
    return f"1 - {within}\n/ ({every} > 0)"


def _le(seconds: float) -> str:
    """Write an edge as the exporter does: 1.0, not 1."""
    return str(floatToGoString(seconds))  # type: ignore[no-untyped-call]


def _burns(name: str, burn: Burn, budget: float) -> str:
    limit = f"{burn.factor * budget:.4g}"
    count = f"sum by (job) (increase(bundle_probe_{name}_seconds_count[{burn.long}]))"
    return (
        f"{slow(name, burn.short)} > {limit}\n"
        f"and {slow(name, burn.long)} > {limit}\n"
        f"and {count} >= {burn.minimum}"
    )
