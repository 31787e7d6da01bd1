"""What a source of metrics is, and how all of them are asked at a scrape."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Protocol

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from bundle.errors import BundleError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from prometheus_client.core import Metric


class Source(Protocol):
    """One source of truth: its name, and a function that asks it now."""

    name: str

    def collect(self) -> list[Metric]:
        """Give fresh metrics; raises `BundleError` if the source cannot be read."""


class Scrape(Collector):
    """Asks every source when it is asked; one that fails takes no other down.

    A source that failed is absent and has `bundle_collector_success` 0: neither a zero
    nor an old value stands for what is not known.
    """

    def __init__(
        self, sources: Sequence[Source], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Keep the sources, in the order of the page."""
        self._sources, self._clock = sources, clock
        self._told: dict[str, str] = {}

    def collect(self) -> Iterator[Metric]:
        """Give the metrics of all sources, then how asking them went."""
        success = GaugeMetricFamily(
            "bundle_collector_success",
            "Whether this source could be read and had all that is expected.",
            labels=["collector"],
        )
        duration = GaugeMetricFamily(
            "bundle_collector_duration_seconds",
            "How long reading this source took.",
            labels=["collector"],
        )
        for source in self._sources:
            started = self._clock()
            metrics, problem = _ask(source)
            yield from metrics
            self._tell(source.name, problem)
            success.add_metric([source.name], float(not problem))
            duration.add_metric([source.name], self._clock() - started)
        yield success
        yield duration

    def _tell(self, name: str, problem: str) -> None:
        """Log a problem once, and its end once; not at every scrape."""
        if problem != self._told.get(name, ""):
            print(f"{name}: {problem or 'is well again'}", file=sys.stderr, flush=True)
        self._told[name] = problem


class Incomplete(BundleError):
    """The source answered, but something is missing; what there is is in `metrics`."""

    def __init__(self, metrics: list[Metric], missing: str) -> None:
        """Hold what there is, and the words for what is not."""
        super().__init__()
        self.metrics, self.missing = metrics, missing


def _ask(source: Source) -> tuple[list[Metric], str]:
    try:
        return source.collect(), ""
    except Incomplete as error:
        return error.metrics, f"missing: {error.missing}"
    except BundleError as error:
        return [], "; ".join(problem.what for problem in error.problems)
