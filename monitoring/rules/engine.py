"""The server and its engine: is it up, does it make sense, does it keep up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.rules.form import Alert

if TYPE_CHECKING:
    from bundle.model import Model


def alerts(model: Model) -> list[Alert]:
    """All of them, worst first."""
    return [server_down(), *_probe(model), *_requests(model), *_capacity(model), died()]


def server_down() -> Alert:
    """Three ways: it does not answer, `/health` says no, nobody scrapes it any more."""
    return Alert(
        "ServerDown",
        'up{job="engine"} == 0\nor bundle_server_up == 0\nor absent(up{job="engine"})',
        "2m",  # a quick restart of the engine is EngineDied
        "page",
        "Nobody gets an answer: the server is down.",
    )


def died() -> Alert:
    """By cause, so that the cause is in the message."""
    return Alert(
        "EngineDied",
        "sum by (job, cause) (increase(bundle_engine_deaths_total[30m])) > 0",
        "0m",
        "ticket",
        "Running answers were cut off: the engine died ({{ $labels.cause }}) and was "
        "started again.",
    )


def _probe(model: Model) -> list[Alert]:
    limits = model.alerts
    # Refused ones are ServerDown's, and would page for minutes after each cold start.
    failed = 'sum by (job) (increase(bundle_probe_failures_total{reason!="refused"}[5m]))'
    sent = _increase("probe_attempts", "5m")
    wrong, right = (_increase(f"canary_{name}", "10m") for name in ("wrong", "correct"))
    return [
        Alert(
            "ProbesFailing",
            f"{failed}\n/ ({sent} >= 3) > {limits.probe_failure_ratio:g}",
            "1m",
            "page",
            "Users get errors or wait for ever: {{ $value | humanizePercentage }} of "
            "the probes have no whole answer.",
        ),
        Alert(
            "CanaryWrong",
            f"{wrong}\n/ ({wrong} + {right} >= 3) > {limits.canary_wrong_ratio:g}",
            "1m",
            "page",
            "Users get nonsense: {{ $value | humanizePercentage }} of the answers to "
            "easy questions are wrong.",
        ),
    ]


def _requests(model: Model) -> list[Alert]:
    ended = "bundle_engine_requests_total"
    answered = 'http_requests_total{job="engine"}'
    error = f'{ended}{{finished_reason="error"}}'
    status = 'http_requests_total{job="engine",status="5xx"}'
    limit = f"{model.alerts.error_ratio:g}"
    return [
        Alert(
            "ErrorsHigh",
            f"{_share(error, ended)} > {limit}\nor {_share(status, answered)} > {limit}",
            "2m",
            "page",
            "Users get errors: {{ $value | humanizePercentage }} of the requests fail.",
        )
    ]


def _share(part: str, whole: str) -> str:
    """Share in five minutes, of ten or more."""
    counted, every = (f"sum by (job) (increase({name}[5m]))" for name in (part, whole))
    return f"{counted} / ({every} >= 10)"


def _capacity(model: Model) -> list[Alert]:
    limits = model.alerts
    waiting = "sum by (job) (min_over_time(bundle_engine_requests_waiting[5m]))"
    full = "max by (job) (avg_over_time(bundle_engine_kv_cache_usage_ratio[5m]))"
    preempted = "sum by (job) (rate(bundle_engine_preemptions_total[5m]))"
    return [
        Alert(
            "QueueGrowing",
            f"{waiting} > {limits.waiting}",
            "5m",
            "page",
            "Users wait before the first token: never fewer than {{ $value }} requests "
            "have been in the queue.",
        ),
        Alert(
            "KvCacheFull",
            f"{full} > {limits.kv_cache_ratio:g}",
            "5m",
            "ticket",
            "New requests will have to wait: the KV cache is "
            "{{ $value | humanizePercentage }} full.",
        ),
        Alert(
            "Preemptions",
            f"{preempted} > {limits.preemptions_per_second:g}",
            "5m",
            "ticket",
            "Answers halt in the middle: {{ $value | humanize }} requests a second are "
            "put back into the queue.",
        ),
    ]


def _increase(name: str, span: str) -> str:
    return f"sum by (job) (increase(bundle_{name}_total[{span}]))"
