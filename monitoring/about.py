"""What is served, by what, with which settings: facts as labels of metrics that are 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric

from bundle import VERSION
from bundle.model import ModelScopeSource

if TYPE_CHECKING:
    from bundle.model import Model
    from bundle.settings import Settings

# What decides how the engine answers. Named, not filtered: a URL, a path or a free
# command line may hold a secret.
SHOWN = (
    "device",
    "dtype",
    "max_model_len",
    "max_num_seqs",
    "memory_utilization",
    "tensor_parallel_size",
    "data_parallel_size",
    "drain_seconds",
    "preset",
)


class About:
    """Build, model, objectives and settings; they do not change in a process's life."""

    name = "about"

    def __init__(self, settings: Settings, model: Model) -> None:
        """Keep the facts."""
        self._model = model_facts(settings, model)
        self._slo = model.slo
        self._settings = {name: _word(getattr(settings, name)) for name in SHOWN}

    def collect(self) -> list[Metric]:
        """Give three info metrics and the objectives."""
        build = {"version": VERSION}
        return [
            InfoMetricFamily("bundle_build", "The bundle's version.", build),
            InfoMetricFamily("bundle_model", "The model served.", self._model),
            InfoMetricFamily(
                "bundle_settings",
                "Settings that the exporter was started with; empty: the model's own.",
                self._settings,
            ),
            GaugeMetricFamily(
                "bundle_slo_ttft_seconds",
                "Objective for TTFT, from model.yaml.",
                self._slo.ttft_seconds,
            ),
            GaugeMetricFamily(
                "bundle_slo_tpot_seconds",
                "Objective for TPOT, from model.yaml.",
                self._slo.tpot_seconds,
            ),
        ]


def model_facts(settings: Settings, model: Model) -> dict[str, str]:
    """Which model, where from, in which format, on what terms."""
    source = model.source
    if isinstance(source, ModelScopeSource):
        origin, revision = source.id, source.revision
    else:
        origin, revision = source.package, source.version
    return {
        "model": model.name,
        "hub": source.hub,
        "id": origin,
        "revision": revision,
        "format": settings.weights_format,
        "licence": model.licence.name,
    }


def _word(value: object) -> str:
    return "" if value is None else str(value)
