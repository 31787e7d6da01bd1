"""Values of a scrape by name and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prometheus_client.core import Metric
    from prometheus_client.samples import Sample


class Found:
    """The samples of one scrape; what is not there is `None`, never 0."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        """Keep all samples by their names."""
        self._samples: dict[str, list[Sample]] = {}
        for metric in metrics:
            for sample in metric.samples:
                self._samples.setdefault(sample.name, []).append(sample)

    def samples(self, name: str) -> list[Sample]:
        """Give every sample of that name."""
        return self._samples.get(name, [])

    def total(self, name: str, **labels: str) -> float | None:
        """Sum of the samples with these labels."""
        values = [
            sample.value
            for sample in self.samples(name)
            if labels.items() <= sample.labels.items()
        ]
        return sum(values) if values else None
