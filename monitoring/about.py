"""What is served: facts as labels of metrics that are always 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.core import InfoMetricFamily, Metric

if TYPE_CHECKING:
    from bundle.model import Model
    from bundle.settings import Settings


class About:
    """`bundle_model_info`: which model, where from, in which format, on what terms."""

    name = "about"

    def __init__(self, settings: Settings, model: Model) -> None:
        """Keep what does not change while this process lives."""
        self._facts = {
            "model": model.name,
            "hub": model.source.hub,
            "format": settings.weights_format,
            "licence": model.licence.name,
        }

    def collect(self) -> list[Metric]:
        """Give the one info metric."""
        return [InfoMetricFamily("bundle_model", "The model served.", self._facts)]
