"""Two answers to one question: where they part, and whether that has a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from bundle.model import Strict
from scripts.grade import Verdict

if TYPE_CHECKING:
    from scripts.consistency.record import Reply

ALIKE = 0.80

Kind = Literal["near tie", "unexplained", "ran on", "ended early"]


class Divergence(Strict):
    """The first token that differs.

    `margin` is how much likelier, in nat, the reference held its own token than the
    candidate's; `at_least` where that is not among its alternatives. A candidate "ran on"
    where the reference had ended.
    """

    position: int
    kind: Kind
    margin: float | None = None
    at_least: bool = False


class Pair(Strict):
    """One question's two answers. `similarity` is -1 to 1; none if it is not computed."""

    ask: str
    reference: str
    candidate: str
    reference_verdict: Verdict
    candidate_verdict: Verdict
    same_prompt: bool
    divergence: Divergence | None
    common_share: float
    similarity: float | None

    @property
    def consistent(self) -> bool:
        """Exact, or the same verdict and alike; without similarity the verdict alone."""
        if self.divergence is None:
            return True
        alike = self.similarity is None or self.similarity >= ALIKE
        return alike and self.reference_verdict == self.candidate_verdict


def compare(
    reference: Reply, candidate: Reply, near_tie: float, similarity: float | None = None
) -> Pair:
    """Set one answer beside the other; margins below `near_tie` nat are near ties."""
    common = _common(reference.ids, candidate.ids)
    longest = max(len(reference.ids), len(candidate.ids))
    return Pair(
        ask=reference.question.ask,
        reference=reference.text,
        candidate=candidate.text,
        reference_verdict=reference.verdict,
        candidate_verdict=candidate.verdict,
        same_prompt=reference.prompt_ids == candidate.prompt_ids,
        divergence=_divergence(reference, candidate, common, near_tie),
        common_share=common / longest if longest else 1.0,
        similarity=similarity,
    )


def _common(first: tuple[int, ...], second: tuple[int, ...]) -> int:
    pairs = enumerate(zip(first, second, strict=False))
    shorter = min(len(first), len(second))
    return next((n for n, (one, other) in pairs if one != other), shorter)


def _divergence(
    reference: Reply, candidate: Reply, at: int, near_tie: float
) -> Divergence | None:
    if reference.ids == candidate.ids:
        return None
    if at == len(reference.ids):
        return Divergence(position=at, kind="ran on")
    if at == len(candidate.ids):
        return Divergence(position=at, kind="ended early")
    known = dict(reference.positions[at])
    theirs = known.get(candidate.ids[at])
    margin = known[reference.ids[at]] - (
        min(known.values()) if theirs is None else theirs
    )
    near = theirs is not None and abs(margin) < near_tie
    return Divergence(
        position=at,
        kind="near tie" if near else "unexplained",
        margin=margin,
        at_least=theirs is None,
    )
