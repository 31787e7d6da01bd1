"""Give `docs/metrics.md` from the recorded page of the exporter, and from the rules."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from prometheus_client.parser import text_string_to_metric_families

from bundle.model import load_model
from monitoring.families import FAMILIES, PREFIX
from monitoring.rules.file import alerts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prometheus_client.core import Metric

    from monitoring.rules.form import Alert

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "tests/fixtures/exporter-page.txt"

_HEAD = """\
# Metrics

What the exporter (`python -m monitoring`, port 9810) shows, in the order of its page.
Written by `make generate`; every name is held against the recorded page.

**Absent is not 0.**
A source that cannot be read is absent, and its `bundle_collector_success` is 0.
Seconds, bytes, ratios from 0 to 1 and degrees Celsius throughout; `_total` only rises.

**The probe, not the engine's quantiles.**
vLLM's buckets for TPOT end at 10 and 25 ms: any TPOT in between reads as p50 17.5 ms.
The probe's buckets are 5% apart, so its quantiles are right within 2%.
The objectives are edges, so the share beyond an objective is exact.
Of the engine's histograms take the mean: sum by count.

| metric | type | labels | what it is | vLLM calls it |
|---|---|---|---|---|
"""

_ALERTS = """
# Alerts

Thresholds stand in `models/<name>/model.yaml`.
What to do stands in [runbook.md](runbook.md).

| alert | severity | what a user feels |
|---|---|---|
"""


def metrics() -> str:
    """Give the text: a row per family, then a row per alert."""
    families = text_string_to_metric_families(PAGE.read_text())
    rules = alerts(load_model(ROOT / "models", "qwen-1_8b-chat"))
    names = dict.fromkeys(rule.name for rule in rules)
    said = [_alert([rule for rule in rules if rule.name == name]) for name in names]
    return "\n".join(
        [_HEAD + "\n".join(map(_row, families)), _ALERTS + "\n".join(said), ""]
    )


def _alert(rules: Sequence[Alert]) -> str:
    """Give the row of the alerts that share a name."""
    severity = ", ".join(dict.fromkeys(rule.severity for rule in rules))
    felt = re.sub(r"\{\{[^}]*\}\}", "…", rules[0].felt)  # Prometheus fills it in
    return f"| `{rules[0].name}` | {severity} | {felt} |"


def _row(metric: Metric) -> str:
    labels = {label for sample in metric.samples for label in sample.labels} - {"le"}
    name = metric.name + ("_total" if metric.type == "counter" else "")
    told = ", ".join(f"`{label}`" for label in sorted(labels))
    theirs = ", ".join(f"`{source}`" for source in _sources(metric.name))
    return f"| `{name}` | {metric.type} | {told} | {metric.documentation} | {theirs} |"


def _sources(name: str) -> tuple[str, ...]:
    named = {PREFIX + family.name: family.sources for family in FAMILIES}
    return named.get(name, ())
