"""What the probe has measured since the exporter started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import Counter, Histogram
from prometheus_client.core import GaugeMetricFamily

from monitoring.edges import latency_edges
from monitoring.listener import REASONS

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from bundle.model import Slo
    from monitoring.listener import Heard


class ProbeMetrics:
    """Histograms and counters; every reason and verdict is there from the start.

    A series that appears with its first event has no increase that an alert could see.
    """

    def __init__(self, slo: Slo, interval: float) -> None:
        """Begin at zero; the objectives of `slo` are edges of the histograms."""
        ttft, tpot = slo.ttft_seconds, slo.tpot_seconds
        self.ttft = Histogram(
            "bundle_probe_ttft_seconds",
            "TTFT as a client sees it: request sent to first token; prefix cache cold.",
            buckets=latency_edges(0.005, 1, 60, ttft),
            registry=None,
        )
        self.tpot = Histogram(
            "bundle_probe_tpot_seconds",
            "TPOT as a client sees it: (E2EL - TTFT) / (tokens - 1).",
            buckets=latency_edges(0.002, 0.2, 5, tpot),
            registry=None,
        )
        self.e2e = Histogram(
            "bundle_probe_e2e_seconds",
            "E2EL as a client sees it: request sent to last token, 16 to 32 tokens.",
            buckets=latency_edges(0.02, 10, 60, ttft + 31 * tpot),
            registry=None,
        )
        self.attempts = _counter("probe_attempts", "Probes sent.")
        self.skipped = _counter(
            "probe_skipped", "Probes not sent because requests were waiting already."
        )
        self.failures = Counter(
            "bundle_probe_failures",
            "Probes without a whole answer, by reason.",
            ["reason"],
            registry=None,
        )
        for reason in REASONS:
            self.failures.labels(reason)
        self.correct = _counter("canary_correct", "Probes whose answer was right.")
        self.wrong = _counter("canary_wrong", "Probes whose answer was not right.")
        self.garbled = _counter(
            "canary_garbled",
            "Probes whose answer was no language; they count as wrong too.",
        )
        self.last_success: float | None = None
        self._interval = interval

    def measured(self, heard: Heard) -> None:
        """Note the times of one whole answer."""
        self.ttft.observe(heard.ttft)
        self.tpot.observe(heard.tpot)
        self.e2e.observe(heard.e2el)

    def collect(self) -> list[Metric]:
        """Give all of it; the last success is absent until there is one."""
        gauges = [
            GaugeMetricFamily(
                "bundle_probe_interval_seconds",
                "Pause between two probes.",
                self._interval,
            )
        ]
        if self.last_success is not None:
            gauges.append(
                GaugeMetricFamily(
                    "bundle_probe_last_success_timestamp_seconds",
                    "When a probe had a whole answer last, right or not; Unix time.",
                    self.last_success,
                )
            )
        histograms = (self.ttft, self.tpot, self.e2e)
        counters = (self.attempts, self.skipped, self.failures)
        verdicts = (self.correct, self.wrong, self.garbled)
        direct = (*histograms, *counters, *verdicts)
        return [*(_without_created(one) for one in direct), *gauges]


def _counter(name: str, text: str) -> Counter:
    return Counter(f"bundle_{name}", text, registry=None)


def _without_created(one: Counter | Histogram) -> Metric:
    """Give the metric without the time of its creation, a gauge beside each series."""
    (metric,) = one.collect()
    metric.samples = [s for s in metric.samples if not s.name.endswith("_created")]
    return metric
