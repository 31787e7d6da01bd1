"""A score in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scripts.accuracy.result import Accuracy


def summary(result: Accuracy) -> str:
    """Give the scores in words."""
    told = [
        f"{result.title}, {result.label}",
        f"  flexible right {result.flexible}",
        f"  strict   right {result.strict}",
        f"  unparseable {result.unparseable}, truncated {result.truncated}",
    ]
    if result.reference:
        told.append(f"  published {result.reference.value}%: {result.reference.source}")
    return "\n".join(told)
