"""A running server against a golden file: the 20 most likely tokens of each position."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from scripts.parity import metrics, score, verdict
from scripts.parity.score import Scores, Top, top_margins

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bundle.api import Server
    from bundle.model import ParityLimits
    from scripts.parity.golden import Golden
    from scripts.parity.result import Result

# The remainder of float32 log-probabilities is rounding below this mass.
RESOLVED = 1e-5
TIMEOUT = 300.0  # seconds; a passage takes some on a CPU


def against_server(
    server: Server,
    name: str,
    golden: Golden,
    limits: ParityLimits | None,
    show: Callable[[int, int], None],
) -> Result:
    """Compare by KL's lower bounds; states are not to be had over HTTP."""
    started = time.monotonic()
    found: list[Scores] = []
    at = 0
    for number, passage in enumerate(golden.passages, start=1):
        answer = server.prompt_logprobs(name, passage, 20)
        for place, following in zip(answer, passage[1:], strict=True):
            found.append(position(golden.top, at, place, following))
            at += 1
        show(number, len(golden.passages))
    figures = score.figures(score.joined(found), None)
    about = golden.about
    sha256 = about.weights_sha256
    return verdict.finished(
        "server", about.dtype, sha256, figures, floor=None, limits=limits, started=started
    )


def position(top: Top, at: int, answer: Mapping[str, Any], following: int) -> Scores:
    """Score one position; `answer` has, by token id, `logprob` and `rank`, from 1.

    The classes are the tokens that both sides know, and all others as one.
    """
    theirs = {int(number): found["logprob"] for number, found in answer.items()}
    if not np.isfinite(list(theirs.values())).all():
        raise metrics.not_finite("server", 1, 1)
    ours = {int(n): float(v) for n, v in zip(top.ids[at], top.logs[at], strict=False)}
    shared = sorted(theirs.keys() & ours.keys())
    p, q = ([side[number] for number in shared] for side in (ours, theirs))
    kl, js = bounds(np.exp(p), np.exp(q))
    chosen = next(int(n) for n, found in answer.items() if found["rank"] == 1)
    one = Top(top.ids[at : at + 1], top.logs[at : at + 1], top.losses[at : at + 1])
    return Scores(
        kl=np.array([kl]),
        js=np.array([js]),
        margins=top_margins(one, np.array([chosen])),
        reference_losses=one.losses,
        candidate_losses=np.array([-theirs[following]]),
    )


def bounds(p: metrics.Array, q: metrics.Array) -> tuple[float, float]:
    """Give lower bounds of KL and JS, from the masses of the tokens known to both.

    Σ p ln(p/q) over them and P ln(P/Q) of all others. Where rounding drowns P or Q, the
    known tokens alone: KL = KL(known or not) + Σp KL(known) ≥ Σp KL(known).
    """
    rest = np.array([1 - p.sum(), 1 - q.sum()])
    if (rest > RESOLVED).all():
        both = np.log([[*p, rest[0]]]), np.log([[*q, rest[1]]])
        return float(metrics.kl(*both)[0]), float(metrics.js(*both)[0])
    if len(p) == 0:
        return 0.0, 0.0
    both = np.log(p / p.sum())[None], np.log(q / q.sum())[None]
    share = min(1.0, float(p.sum()), float(q.sum()))
    return share * float(metrics.kl(*both)[0]), share * float(metrics.js(*both)[0])
