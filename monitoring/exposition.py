"""The page in Prometheus' text format 0.0.4, which every scraper reads.

The library's writer checks and escapes each name and label anew at each scrape, a third
of the exporter's time; the series are the same ones each time, so they are kept here.
https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.utils import floatToGoString

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from prometheus_client.core import Metric

_number: Callable[[float], str] = floatToGoString  # the library gives it no types
KIND = CONTENT_TYPE_PLAIN_0_0_4
# What the format calls a family: the end of its name, and its type.
_FORMS = {
    "counter": ("_total", "counter"),
    "gauge": ("", "gauge"),
    "histogram": ("", "histogram"),
    "info": ("_info", "gauge"),
}
_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})
_HELP_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n"})


def exposition(metrics: Iterable[Metric]) -> bytes:
    """Give the page; byte for byte that of `prometheus_client.generate_latest`."""
    return "".join(line for metric in metrics for line in _lines(metric)).encode()


def _lines(metric: Metric) -> Iterator[str]:
    end, kind = _FORMS[metric.type]
    name = metric.name + end
    yield f"# HELP {name} {metric.documentation.translate(_HELP_ESCAPES)}\n"
    yield f"# TYPE {name} {kind}\n"
    for sample in metric.samples:
        series = _series(sample.name, tuple(sample.labels.items()))
        yield f"{series} {_number(sample.value)}\n"


@lru_cache(maxsize=4096)
def _series(name: str, labels: tuple[tuple[str, str], ...]) -> str:
    if not labels:
        return name
    pairs = (f'{key}="{value.translate(_ESCAPES)}"' for key, value in sorted(labels))
    return f"{name}{{{','.join(pairs)}}}"
