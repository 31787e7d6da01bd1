"""The engine's own metrics under names that stay the same over vLLM releases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families

from bundle.errors import CouldNotRun, Problem
from monitoring.collector import Incomplete
from monitoring.families import FAMILIES, PREFIX, Family

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bundle.api import Server

_STARTS = tuple(
    before + source
    for family in FAMILIES
    for source in family.sources
    for before in ("", "# TYPE ")
)


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
    if not (lines := [line for line in text.splitlines() if _is_known(line)]):
        remedy = "name vLLM in BUNDLE_SERVER_URL, and do not give it --disable-log-stats"
        raise CouldNotRun(Problem("/metrics has no metric of vLLM", remedy))
    try:
        families = text_string_to_metric_families("\n".join(lines) + "\n")
        page = {metric.name: metric for metric in families}
    except ValueError as error:
        raise CouldNotRun(
            Problem(f"/metrics cannot be parsed: {error}", "read the server's log")
        ) from error
    return {
        PREFIX + family.name: _renamed(page[source], family)
        for family in FAMILIES
        if (source := next((s for s in family.sources if s in page), None))
    }


def total(found: Mapping[str, Metric], name: str) -> float | None:
    """Sum of a gauge or counter over all engines; None if it is not there."""
    metric = found.get(PREFIX + name)
    return sum(sample.value for sample in metric.samples) if metric else None


def _is_known(line: str) -> bool:
    """Whether the line belongs to a known family: parsing the others is half the cost."""
    return line.startswith(_STARTS) and "_created" not in line.partition("{")[0]


def _renamed(metric: Metric, family: Family) -> Metric:
    renamed = Metric(PREFIX + family.name, family.help, family.kind)
    for sample in metric.samples:
        suffix = sample.name.removeprefix(metric.name)
        renamed.add_sample(renamed.name + suffix, sample.labels, sample.value)
    return renamed
