"""Per-position scores of a candidate, from whole distributions or from their tops."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from scripts.parity import metrics
from scripts.parity.result import Figures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scripts.parity.metrics import Array, Ids
    from scripts.parity.result import States

_AT_ONCE = 64  # positions: a vocabulary of 151,936 is 78 MB an array


@dataclass(frozen=True)
class Scores:
    """One value per position, in nats; losses are of the token that follows."""

    kl: Array
    js: Array
    margins: Array
    reference_losses: Array
    candidate_losses: Array


@dataclass(frozen=True)
class Top:
    """The reference's most likely tokens, best first, and all others as one class.

    ids: (positions, k). logs: (positions, k + 1), the last being the others'.
    losses: (positions,), of the token that follows.
    """

    ids: Ids
    logs: Array
    losses: Array


def joined(parts: Sequence[Scores]) -> Scores:
    """Put the positions of all parts in a row."""
    return Scores(
        *(
            np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(Scores)
        )
    )


def full(reference: Array, candidate: Array, following: Ids) -> Scores:
    """Score every token of the vocabulary; `following` are the tokens that came."""
    cuts = [slice(at, at + _AT_ONCE) for at in range(0, len(reference), _AT_ONCE)]
    return joined([_full(reference[c], candidate[c], following[c]) for c in cuts])


def against_top(top: Top, candidate: Array, following: Ids) -> Scores:
    """Score a candidate's whole distributions where only the reference's top is known."""
    q = metrics.renormalise(candidate)
    classes = metrics.coarse(q, top.ids)
    return Scores(
        kl=metrics.kl(top.logs, classes),
        js=metrics.js(top.logs, classes),
        margins=top_margins(top, q.argmax(axis=1)),
        reference_losses=top.losses,
        candidate_losses=-q[np.arange(len(q)), following],
    )


def top_margins(top: Top, chosen: Ids) -> Array:
    """Nats by which the reference minds `chosen`; at least those of its least token."""
    known = np.where(top.ids == chosen[:, None], top.logs[:, :-1], -np.inf).max(axis=1)
    least = np.where(np.isneginf(known), top.logs[:, -2], known)
    return np.asarray(top.logs[:, 0] - least)


def top(logs: Array, following: Ids, count: int = 64) -> Top:
    """Keep the `count` most likely tokens of each position."""
    p = metrics.renormalise(logs, "reference")
    ids = np.argsort(-p, axis=1, kind="stable")[:, :count]
    losses = -p[np.arange(len(p)), following]
    return Top(ids, metrics.coarse(p, ids), losses)


def figures(scores: Scores, states: States | None) -> Figures:
    """Sum up all positions."""
    before = metrics.perplexity(scores.reference_losses)
    after = metrics.perplexity(scores.candidate_losses)
    return Figures(
        positions=len(scores.kl),
        kl=metrics.spread(scores.kl),
        js=metrics.spread(scores.js),
        top1=metrics.top_one(scores.margins),
        perplexity_reference=before,
        perplexity_relative=(after - before) / before,
        states=states,
    )


def _full(reference: Array, candidate: Array, following: Ids) -> Scores:
    p = metrics.renormalise(reference, "reference")
    q = metrics.renormalise(candidate)
    rows = np.arange(len(p))
    return Scores(
        kl=metrics.kl(p, q),
        js=metrics.js(p, q),
        margins=metrics.margins(p, q),
        reference_losses=-p[rows, following],
        candidate_losses=-q[rows, following],
    )
