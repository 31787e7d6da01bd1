"""The table of the reference run, and what it left out, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scripts.consistency.compare import ALIKE
from scripts.gate import lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scripts.consistency.compare import Pair
    from scripts.consistency.result import Consistency

_NOT_SHOWN = "not shown: requirements/similarity.txt is not installed"


def table(result: Consistency) -> str:
    """Give rates, differing answers and gates."""
    rates = [f"  {name:<22}  {value}" for name, value in rows(result)]
    parted = [line for pair in result.pairs for line in _parted(pair)]
    return "\n".join([*rates, *parted, lines(result.gates)])


def rows(result: Consistency) -> Iterator[tuple[str, str]]:
    """Give name and value of each rate."""
    yield "reference", result.reference
    yield "candidate", result.candidate
    yield "exact match", str(result.exact)
    yield "semantically alike", str(result.alike) if result.alike else _NOT_SHOWN
    with_alike = f"exact, or same verdict and similarity at least {ALIKE:.2f}"
    name = "overall consistency" if result.alike else "exact or same verdict"
    yield name, str(result.consistent) + (f"; {with_alike}" if result.alike else "")
    yield "factual error rate", str(result.wrong)
    yield (
        "  here only",
        f"{result.device_only_errors}; p = {result.mcnemar_p:.3f} (McNemar)",
    )
    yield "  reference only", str(result.reference_only_errors)
    yield "common prefix", f"{result.common_share:.1%} of the tokens"
    if result.median_divergence is not None:
        yield "first divergence", f"token {result.median_divergence:.0f} (median)"
        yield "near ties", f"{result.near_ties} of the divergences"
    if result.similarity_mean is not None:
        least = f"least {result.similarity_least:.2f}"
        yield (
            "similarity",
            f"mean {result.similarity_mean:.2f} where they differ, {least}",
        )


def _parted(pair: Pair) -> Iterator[str]:
    if not (at := pair.divergence):
        return
    bound = "at least " if at.at_least else ""
    margin = "" if at.margin is None else f", margin {bound}{at.margin:.3f} nat"
    yield f"  {pair.ask}: {at.kind} at token {at.position}{margin}"
    yield f"    reference ({pair.reference_verdict}): {_short(pair.reference)}"
    yield f"    candidate ({pair.candidate_verdict}): {_short(pair.candidate)}"


def _short(text: str) -> str:
    return " ".join(text.split())[:80]
