"""The landing page: the state of the server for a person with a browser."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prometheus_client.core import Metric

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="15">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; font-family: system-ui, sans-serif }}
body {{ max-width: 40rem; margin: 2rem auto; padding: 0 1rem }}
table {{ border-collapse: collapse; width: 100% }}
th, td {{ text-align: left; padding: .4rem; border-bottom: 1px solid #8886 }}
</style></head>
<body><h1>{title}</h1><table>{rows}</table>
<p><a href="/metrics">metrics</a></p></body></html>
"""


def page(model: str, metrics: Iterable[Metric]) -> str:
    """Give the page for `model`, from what a scrape just gave."""
    found = {metric.name: metric for metric in metrics}
    up = _value(found, "bundle_server_up") == 1
    rows = [
        ("mean TTFT", _mean(found, "bundle_engine_time_to_first_token_seconds")),
        ("mean TPOT", _mean(found, "bundle_engine_time_per_output_token_seconds")),
        ("requests running", _count(found, "bundle_engine_requests_running")),
        ("requests waiting", _count(found, "bundle_engine_requests_waiting")),
        ("tokens generated", _count(found, "bundle_engine_generation_tokens")),
    ]
    title = f"{model} is {'up' if up else 'DOWN'}"
    cells = "".join(f"<tr><th>{name}<td>{html.escape(text)}" for name, text in rows)
    return _PAGE.format(title=html.escape(title), rows=cells)


def _value(found: dict[str, Metric], name: str, suffix: str = "") -> float | None:
    """Sum of the samples with this suffix; None if there are none."""
    samples = found[name].samples if name in found else []
    values = [sample.value for sample in samples if sample.name == name + suffix]
    return sum(values) if values else None


def _mean(found: dict[str, Metric], name: str) -> str:
    """Mean since the server's start, exact since it is a sum by a count."""
    count, total = _value(found, name, "_count"), _value(found, name, "_sum")
    if count is None or total is None:
        return "not known"
    return f"{1000 * total / count:.1f} ms" if count else "no request yet"


def _count(found: dict[str, Metric], name: str) -> str:
    suffix = "_total" if name in found and found[name].type == "counter" else ""
    value = _value(found, name, suffix)
    return "not known" if value is None else f"{value:.0f}"
