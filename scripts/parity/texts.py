"""The fixed texts as tokens, in passages that fit any model's context."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bundle.errors import CouldNotRun, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

TEXTS = Path(__file__).with_name("text")
LENGTH = 256  # tokens of a passage: 256 x 151,936 log-probabilities are 311 MB

Passages = tuple[tuple[int, ...], ...]


def passages(weights: Path, texts: Path = TEXTS) -> Passages:
    """Give every text in passages, by the tokenizer of the folder `weights`.

    Raises:
        CouldNotRun: the folder has no tokenizer.json, as Qwen-1's original form.
    """
    from tokenizers import Tokenizer  # noqa: PLC0415 - only in the engine's Python

    file = weights / "tokenizer.json"
    if not file.is_file():
        remedy = "name the native folder, which `make weights` makes"
        raise CouldNotRun(Problem(f"{file} is not there", remedy))
    tokenizer = Tokenizer.from_file(str(file))
    words = (path.read_text(encoding="utf-8") for path in sorted(texts.glob("*.txt")))
    return tuple(
        part
        for text in words
        for part in cut(tokenizer.encode(text, add_special_tokens=False).ids)
    )


def cut(ids: Sequence[int], length: int = LENGTH) -> Passages:
    """Cut into passages that share a token, so that every token but the first is scored.

    A passage of n tokens has n - 1 positions.
    """
    starts = range(0, len(ids) - 1, length - 1)
    return tuple(tuple(ids[at : at + length]) for at in starts)


def positions(parts: Passages) -> int:
    """Count the positions that have a following token."""
    return sum(len(part) - 1 for part in parts)


def at_most(parts: Passages, limit: int | None) -> Passages:
    """Give passages from each text's beginning on, spread evenly, of about `limit`."""
    if limit is None or positions(parts) <= limit:
        return parts
    count = max(1, limit * len(parts) // positions(parts))
    return tuple(parts[number * len(parts) // count] for number in range(count))
