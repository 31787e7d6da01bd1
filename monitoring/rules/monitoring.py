"""Monitoring itself: who watches must be seen to be awake."""

from __future__ import annotations

from monitoring.rules.form import Alert


def alerts() -> list[Alert]:
    """Nobody feels these, until something else goes wrong unseen."""
    attempts, skipped = (
        f"sum by (job) (increase(bundle_probe_{name}_total[15m]))"
        for name in ("attempts", "skipped")
    )
    often = "max by (job) (bundle_probe_interval_seconds) < 300"
    return [
        Alert(
            "ExporterDown",
            'up{job="exporter"} == 0\nor absent(up{job="exporter"})',
            "2m",
            "ticket",
            "Nobody would see slow or wrong answers: the exporter is down.",
        ),
        Alert(
            "CollectorFailing",
            "bundle_collector_success == 0\nunless on (instance) bundle_server_up == 0",
            "5m",
            "ticket",
            "Panels are empty and alerts blind: the exporter cannot read "
            "{{ $labels.collector }}; its log says why.",
        ),
        Alert(
            "ProbesMissing",
            f"{attempts} + {skipped} == 0\nand {often}",
            "5m",
            "ticket",
            "Nobody would see slow or wrong answers: no probe was sent for 15 minutes.",
        ),
        Alert(
            "Watchdog",
            "vector(1)",
            "0m",
            "none",
            "Always fires: where it stops, alerts do not arrive.",
        ),
    ]
