"""The engine's own metrics under names that stay the same over vLLM releases."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families

from bundle.errors import CouldNotRun, Problem
from monitoring.collector import Incomplete
from monitoring.families import FAMILIES, PREFIX, Family

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bundle.api import Server

_SUFFIXES = {
    "histogram": ("_bucket", "_sum", "_count"),
    "counter": ("_total",),
    "gauge": ("",),
}
# Name of a sample, to vLLM's name of its family and what comes after that.
_SAMPLES = {
    source + suffix: (source, suffix)
    for family in FAMILIES
    for source in family.sources
    for suffix in _SUFFIXES[family.kind]
}


_STARTS = tuple({source for source, _ in _SAMPLES.values()})
Labels = dict[str, str]


class Engine:
    """vLLM's `/metrics`, renamed; nothing is computed."""

    name = "engine"

    def __init__(self, server: Server) -> None:
        """Ask `server` at every scrape; its timeout bounds the scrape."""
        self._server = server

    def collect(self) -> list[Metric]:
        """Give the families that are there; raises `Incomplete` if one is not."""
        found = parse(self._server.metrics())
        missing = [f for f in FAMILIES if f.expected and PREFIX + f.name not in found]
        if missing:
            names = ", ".join(" or ".join(family.sources) for family in missing)
            raise Incomplete(list(found.values()), names)
        return list(found.values())


def parse(text: str) -> dict[str, Metric]:
    """Give the known families of a page of vLLM, by their stable names.

    Raises:
        CouldNotRun: there is none, or the text is no Prometheus exposition.
    """
    try:
        page = _by_source(text)
    except ValueError as error:
        raise CouldNotRun(
            Problem(f"/metrics cannot be parsed: {error}", "read the server's log")
        ) from error
    if not page:
        remedy = "name vLLM in BUNDLE_SERVER_URL, and do not give it --disable-log-stats"
        raise CouldNotRun(Problem("/metrics has no metric of vLLM", remedy))
    return {
        PREFIX + family.name: _renamed(page[source], family)
        for family in FAMILIES
        if (source := next((s for s in family.sources if s in page), None))
    }


def total(found: Mapping[str, Metric], name: str) -> float | None:
    """Sum of a gauge or counter over all engines; None if it is not there."""
    metric = found.get(PREFIX + name)
    return sum(sample.value for sample in metric.samples) if metric else None


def _by_source(text: str) -> dict[str, list[tuple[str, Labels, float]]]:
    """Give suffix, labels and value of each known sample, by vLLM's family."""
    page: dict[str, list[tuple[str, Labels, float]]] = {}
    for line in text.splitlines():
        if not line.startswith(_STARTS):
            continue
        series, _, value = line.rpartition(" ")
        name, labels = _series(series)
        if found := _SAMPLES.get(name):
            source, suffix = found
            page.setdefault(source, []).append((suffix, labels, float(value)))
    return page


@lru_cache(maxsize=4096)
def _series(text: str) -> tuple[str, Labels]:
    """Give name and labels; the same series come at every scrape, so they are kept."""
    for family in text_string_to_metric_families(f"{text} 0\n"):
        for sample in family.samples:
            return sample.name, sample.labels
    message = f"no series: {text[:100]!r}"
    raise ValueError(message)


def _renamed(samples: list[tuple[str, Labels, float]], family: Family) -> Metric:
    renamed = Metric(PREFIX + family.name, family.help, family.kind)
    for suffix, labels, value in samples:
        renamed.add_sample(renamed.name + suffix, labels, value)
    return renamed
