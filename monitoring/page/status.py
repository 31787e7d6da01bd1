"""What the status page says, as values; how it says it is in `html`."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from monitoring.page.chips import chips

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bundle.model import Model
    from monitoring.history import History, Probe, Tokens
    from monitoring.page.chips import Chip
    from monitoring.page.found import Found

# up: answers, and rightly. silent: `/health` says 200, no probe came back. wrong: the
# last answers make no sense. down: `/health` does not say 200.
State = Literal["up", "silent", "wrong", "down"]

HOUR = 3600
RECENT = 300  # seconds that "now" means for tokens per second
WRONG_IN_ROW = 2


@dataclass(frozen=True)
class Latency:
    """A latency of the last hour: seconds, with the time of each probe."""

    p50: float | None
    p90: float | None
    objective: float
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Smoke:
    """The last smoke test: its verdict, and when it was made (Unix time)."""

    verdict: str
    time: float


@dataclass(frozen=True)
class Status:
    """Everything on the page; times are Unix seconds."""

    now: float
    model: Model
    version: str | None
    state: State
    since: float | None
    ttft: Latency
    tpot: Latency
    running: float | None
    waiting: float | None
    tokens_per_second: float | None
    chips: tuple[Chip, ...]
    answers: tuple[Probe, ...]
    smoke: Smoke | None
    failing: tuple[str, ...]


def status(
    found: Found, history: History, model: Model, version: str | None, now: float
) -> Status:
    """Put a scrape and the last hour together."""
    probes = history.probes.since(now - HOUR)
    return Status(
        now=now,
        model=model,
        version=version,
        state=state(found, probes, now),
        since=found.total("bundle_engine_start_time_seconds"),
        ttft=_latency([(p.time, p.ttft) for p in probes], model.slo.ttft_seconds),
        tpot=_latency([(p.time, p.tpot) for p in probes], model.slo.tpot_seconds),
        running=found.total("bundle_engine_requests_running"),
        waiting=found.total("bundle_engine_requests_waiting"),
        tokens_per_second=rate(history.tokens.since(now - RECENT)),
        chips=chips(found),
        answers=tuple(reversed(probes[-5:])),
        smoke=_smoke(found),
        failing=_failing(found),
    )


def state(found: Found, probes: Sequence[Probe], now: float) -> State:
    """Judge by what a user would get, not by `/health` alone."""
    if found.total("bundle_server_up") != 1:
        return "down"
    patience = 60 + 4 * (found.total("bundle_probe_interval_seconds") or 0)
    if not probes or now - probes[-1].time > patience:
        return "silent"
    last = probes[-WRONG_IN_ROW:]
    return "wrong" if all(probe.verdict != "right" for probe in last) else "up"


def rate(tokens: Sequence[Tokens]) -> float | None:
    """Tokens per second from the first to the last count; None after a restart."""
    if len(tokens) <= 1 or tokens[-1].total < tokens[0].total:
        return None
    return (tokens[-1].total - tokens[0].total) / (tokens[-1].time - tokens[0].time)


def _latency(points: list[tuple[float, float]], objective: float) -> Latency:
    values = [value for _, value in points]
    if len(values) <= 1:
        only = values[0] if values else None
        return Latency(only, only, objective, tuple(points))
    cuts = statistics.quantiles(values, n=10, method="inclusive")
    return Latency(cuts[4], cuts[8], objective, tuple(points))


def _smoke(found: Found) -> Smoke | None:
    time = found.total("bundle_smoke_timestamp_seconds")
    verdicts = [s for s in found.samples("bundle_smoke_verdict") if s.value == 1]
    return Smoke(verdicts[0].labels["verdict"], time) if time and verdicts else None


def _failing(found: Found) -> tuple[str, ...]:
    return tuple(
        sample.labels["collector"]
        for sample in found.samples("bundle_collector_success")
        if sample.value == 0
    )
