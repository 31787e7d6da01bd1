"""What was proven of this deployment, when, and with which versions and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.dashboards.form import dashboard
from monitoring.dashboards.panels import Query, facts, graph, tile

if TYPE_CHECKING:
    from monitoring.dashboards.panels import Json, Panel

_NONE = "no smoke test yet"
_NOT_ASKED = "not in the last smoke test (make smoke SUITE=standard)"


def evidence() -> Json:
    """The last smoke test, its history, and what was tested."""
    last = (
        tile(
            "Smoke test",
            "Verdict of the last one.",
            "none",
            'max(bundle_smoke_verdict{verdict="pass"})',
            nothing=_NONE,
            good=((None, "red"), (1, "green")),
            words={"0": "not passed", "1": "pass"},
        ),
        tile(
            "Age",
            "Of the last smoke test.",
            "s",
            "time() - max(bundle_smoke_timestamp_seconds)",
            nothing=_NONE,
            good=((None, "green"), (604800, "orange")),
        ),
        tile(
            "Right answers",
            "Share, of the questions of the last smoke test.",
            "percentunit",
            "max(bundle_smoke_questions_right_ratio)",
            nothing=_NONE,
        ),
        tile(
            "Throughput",
            "Generated tokens per second in its benchmark.",
            "none",
            "max(bundle_smoke_output_tokens_per_second)",
            nothing=_NONE,
        ),
    )
    proven = (
        graph(
            "Word problems",
            "Share solved in the last smoke test, by data set; only gsm8k compares with "
            "a published score.",
            "percentunit",
            Query("bundle_smoke_word_problems_right_ratio", "{{data}}"),
            nothing=_NOT_ASKED,
        ),
        graph(
            "Consistency",
            "Share of answers that agree with the reference's in the last smoke test.",
            "percentunit",
            Query("bundle_smoke_consistent_ratio", "consistent"),
            nothing=_NOT_ASKED,
        ),
    )
    history = (
        _numbers("TTFT of the benchmark", "ttft"),
        _numbers("TPOT of the benchmark", "tpot"),
        graph(
            "Checks",
            "1 passed, 0 failed; absent: not run.",
            "none",
            Query("bundle_smoke_check_passed", "{{check}}"),
            nothing=_NONE,
        ),
    )
    tested = (
        facts("Model", "What is served, from where, on what terms.", "bundle_model_info"),
        facts("Settings", "Empty: the model's own.", "bundle_settings_info"),
        facts("Bundle", "Its version.", "bundle_build_info"),
    )
    health = (
        graph(
            "Sources of the exporter",
            "1 can be read, 0 cannot; its log says why.",
            "none",
            Query("bundle_collector_success", "{{collector}}"),
        ),
        graph(
            "Deaths of the engine",
            "In an hour, by cause.",
            "none",
            Query(
                "sum by (cause) (increase(bundle_engine_deaths_total[1h]))", "{{cause}}"
            ),
        ),
    )
    rows = ((5, last), (7, proven), (8, history), (6, tested), (7, health))
    return dashboard("bundle-evidence", "Chat model: evidence", rows)


def _numbers(title: str, name: str) -> Panel:
    return graph(
        title,
        "Median and 90th percentile of each smoke test.",
        "s",
        Query(f"bundle_smoke_{name}_median_seconds", "median"),
        Query(f"bundle_smoke_{name}_p90_seconds", "p90"),
        nothing=_NONE,
    )
