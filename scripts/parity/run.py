"""Put reference, noise floor and candidate beside each other, a passage at a time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from scripts.parity import engine, forward, metrics, score, verdict
from scripts.parity.golden import About, Golden
from scripts.parity.score import Scores, Top

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from bundle.model import Dtype, ParityLimits
    from scripts.parity.engine import Engine
    from scripts.parity.metrics import Array
    from scripts.parity.result import Result, States
    from scripts.parity.texts import Passages

    Show = Callable[[int, int], None]


def against_plain(
    candidate: Engine,
    passages: Passages,
    limits: ParityLimits | None,
    sha256: str,
    show: Show,
) -> Result:
    """Compare the engine with a plain fp32 forward, and a plain one in `dtype`."""
    started, dtype = time.monotonic(), candidate.dtype
    exact = forward.load(candidate.weights, "float32")
    same = forward.load(candidate.weights, dtype) if dtype != "float32" else None
    found: list[Scores] = []
    floors: list[Scores] = []
    ours: list[Array] = []
    floor_states: list[Array] = []
    for passage, answer in zip(
        passages, engine.distributions(candidate, passages), strict=True
    ):
        logs, states = forward.passage(exact, passage)
        following = np.array(passage[1:])
        found.append(score.full(logs[:-1], answer, following))
        ours.append(states)
        if same:
            again, states = forward.passage(same, passage)
            floors.append(score.full(logs[:-1], again[:-1], following))
            floor_states.append(states)
        show(len(found), len(passages))
    figures = score.figures(
        score.joined(found), _states(ours, engine.states(candidate, passages))
    )
    floor = (
        score.figures(score.joined(floors), _states(ours, floor_states)) if same else None
    )
    return verdict.finished(
        "full", dtype, sha256, figures, floor=floor, limits=limits, started=started
    )


def record(weights: Path, dtype: Dtype, passages: Passages, sha256: str) -> Golden:
    """Compute the reference, and the noise floor of `dtype` against it."""
    exact, same = forward.load(weights, "float32"), forward.load(weights, dtype)
    tops: list[Top] = []
    floors: list[Scores] = []
    ours: list[Array] = []
    floor_states: list[Array] = []
    for passage in passages:
        following = np.array(passage[1:])
        logs, states = forward.passage(exact, passage)
        again, rounded = forward.passage(same, passage)
        tops.append(score.top(logs[:-1], following))
        floors.append(score.against_top(tops[-1], again[:-1], following))
        ours.append(states)
        floor_states.append(rounded)
    floor = score.figures(score.joined(floors), _states(ours, floor_states))
    about = About(
        weights_sha256=sha256, dtype=dtype, versions=verdict.versions(), floor=floor
    )
    return Golden(about, passages, _joined(tops), np.concatenate(ours))


def against_golden(
    candidate: Engine, golden: Golden, limits: ParityLimits | None, show: Show
) -> Result:
    """Compare the engine with a recorded reference; needs no plain forward."""
    started = time.monotonic()
    found: list[Scores] = []
    at = 0
    for passage, answer in zip(
        golden.passages, engine.distributions(candidate, golden.passages), strict=True
    ):
        part = slice(at, at + len(passage) - 1)
        at = part.stop
        found.append(
            score.against_top(_cut(golden.top, part), answer, np.array(passage[1:]))
        )
        show(len(found), len(golden.passages))
    states = _states([golden.states], engine.states(candidate, golden.passages))
    about, figures = golden.about, score.figures(score.joined(found), states)
    return verdict.finished(
        "golden",
        about.dtype,
        about.weights_sha256,
        figures,
        floor=about.floor,
        limits=limits,
        started=started,
    )


def _states(ours: Iterable[Array], theirs: Iterable[Array]) -> States:
    return metrics.states(np.concatenate(list(ours)), np.concatenate(list(theirs)))


def _joined(tops: list[Top]) -> Top:
    return Top(
        *(
            np.concatenate([getattr(each, name) for each in tops])
            for name in ("ids", "logs", "losses")
        )
    )


def _cut(top: Top, part: slice) -> Top:
    return Top(top.ids[part], top.logs[part], top.losses[part])
