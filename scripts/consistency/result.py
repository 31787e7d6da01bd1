"""All pairs together: rates, tests and gates."""

from __future__ import annotations

from statistics import fmean, median
from typing import TYPE_CHECKING

from bundle.model import Strict
from scripts.consistency.compare import ALIKE, Pair, compare
from scripts.consistency.similarity import similarities
from scripts.gate import Gate
from scripts.rate import Rate, rate
from scripts.statistics import mcnemar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bundle.model import Consistency as Limits
    from scripts.consistency.record import Recording


class Consistency(Strict):
    """How a candidate agrees with its reference.

    `alike` counts the pairs that are exact or at least 0.80 similar; it and the
    similarities are none where similarity is not installed, and then `consistent` is
    exact or the same verdict. `wrong` is of those answered. `device_only_errors` are
    wrong here and right there, `reference_only_errors` the other way, `mcnemar_p` is
    their two-sided exact p.
    """

    reference: str
    candidate: str
    exact: Rate
    alike: Rate | None
    consistent: Rate
    same_verdict: Rate
    wrong: Rate
    device_only_errors: int
    reference_only_errors: int
    mcnemar_p: float
    median_divergence: float | None
    common_share: float
    near_ties: int
    similarity_mean: float | None
    similarity_least: float | None
    gates: tuple[Gate, ...]
    pairs: tuple[Pair, ...]


def consistency(
    reference: Recording, candidate: Recording, limits: Limits
) -> Consistency:
    """Compare two recordings of the same questions, of which there is at least one."""
    pairs = _pairs(reference, candidate, limits.near_tie_nat)
    similar = [one.similarity for one in pairs if one.similarity is not None]
    different = [one for one in similar if one < 1]
    parted = [one.divergence for one in pairs if one.divergence]
    verdicts = [one.candidate_verdict for one in pairs]
    answered = [one for one in verdicts if one in {"right", "wrong"}]
    here, there = _errors(pairs)
    return Consistency(
        reference=_name(reference),
        candidate=_name(candidate),
        exact=_rate([one.divergence is None for one in pairs]),
        alike=_rate([one >= ALIKE for one in similar]) if similar else None,
        consistent=_rate([one.consistent for one in pairs]),
        same_verdict=_rate([_same_verdict(one) for one in pairs]),
        wrong=_rate([one == "wrong" for one in answered]),
        device_only_errors=here,
        reference_only_errors=there,
        mcnemar_p=mcnemar(here, there),
        median_divergence=median(one.position for one in parted) if parted else None,
        common_share=fmean(one.common_share for one in pairs),
        near_ties=sum(one.kind == "near tie" for one in parted),
        similarity_mean=fmean(different) if different else None,
        similarity_least=min(different) if different else None,
        gates=_gates(pairs, candidate, here, limits),
        pairs=tuple(pairs),
    )


def _pairs(reference: Recording, candidate: Recording, near_tie: float) -> list[Pair]:
    both = list(zip(reference.replies, candidate.replies, strict=True))
    parted = [(one.text, other.text) for one, other in both if one.ids != other.ids]
    known = similarities(parted)
    of = None if known is None else dict(zip(parted, known, strict=True))
    return [
        # The same tokens are alike, whatever an embedding says.
        compare(
            one,
            other,
            near_tie,
            None if of is None else of.get((one.text, other.text), 1.0),
        )
        for one, other in both
    ]


def _errors(pairs: Sequence[Pair]) -> tuple[int, int]:
    """Count wrong here and right there, and the other way."""
    verdicts = [(one.candidate_verdict, one.reference_verdict) for one in pairs]
    return verdicts.count(("wrong", "right")), verdicts.count(("right", "wrong"))


def _same_verdict(pair: Pair) -> bool:
    return pair.candidate_verdict == pair.reference_verdict


def _rate(hits: Sequence[bool]) -> Rate:
    return rate(sum(hits), len(hits))


def _name(recording: Recording) -> str:
    return f"{recording.server}, vLLM {recording.engine or 'of unknown version'}"


def _gates(
    pairs: Sequence[Pair], candidate: Recording, errors: int, limits: Limits
) -> tuple[Gate, ...]:
    kinds = [one.divergence.kind for one in pairs if one.divergence]
    return (
        _gate(
            "prompt tokens: chat template and tokenizer",
            sum(not one.same_prompt for one in pairs),
        ),
        _gate(
            "likeliest token chosen: no penalty, no sampling",
            sum(not one.greedy for one in candidate.replies),
        ),
        _gate("stops where the reference stops", kinds.count("ran on")),
        _gate(
            "divergences explained by near ties",
            kinds.count("unexplained") + kinds.count("ended early"),
            limits.unexplained,
        ),
        _gate("no errors of this device only", errors, limits.device_only_errors),
    )


def _gate(name: str, against: int, allowed: int = 0) -> Gate:
    return Gate(
        name=name,
        passed=against <= allowed,
        found=f"{against} prompts against it",
        required=f"at most {allowed}",
    )
