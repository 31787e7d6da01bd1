"""A score in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scripts.accuracy.result import Accuracy, Right


def summary(result: Accuracy) -> str:
    """Give the scores in words."""
    told = [
        f"{result.title}, {result.label}",
        f"  flexible {_words(result.flexible, result.asked)}",
        f"  strict   {_words(result.strict, result.asked)}",
        f"  unparseable {result.unparseable}, truncated {result.truncated}",
    ]
    if result.reference:
        told.append(f"  published {result.reference.value}%: {result.reference.source}")
    return "\n".join(told)


def _words(score: Right, asked: int) -> str:
    low, high = score.interval.low or 0, score.interval.high or 0
    share = f"{score.right} of {asked} right = {score.share:.1%}"
    return f"{share} (95% interval {low:.1%} to {high:.1%})"
