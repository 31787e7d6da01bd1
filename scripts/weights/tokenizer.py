"""Turn qwen.tiktoken into tokenizer.json: `python -m scripts.weights.tokenizer S T`.

Runs in the engine's Python, where transformers and tokenizers are; it imports nothing
of ours.
"""

from __future__ import annotations

import base64
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

VOCABULARY = "qwen.tiktoken"
# The published tokenizer's pattern, which is part of the model as its weights are.
PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
TEXT_END, TURN_START, TURN_END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
# They follow the vocabulary's last rank in this order.
SPECIAL = (TEXT_END, TURN_START, TURN_END, *(f"<|extra_{n}|>" for n in range(205)))
FAILED = 2

_ENVIRON = {
    # tiktoken would keep a copy under /tmp and read that in place of a changed file.
    "TIKTOKEN_CACHE_DIR": "",
    "TRANSFORMERS_OFFLINE": "1",
    "TRANSFORMERS_VERBOSITY": "error",
}


def main(source: Path, target: Path) -> None:
    """Write `target/tokenizer.json` from the vocabulary in `source`."""
    from tokenizers import AddedToken, normalizers  # noqa: PLC0415 - the engine's
    from transformers.convert_slow_tokenizer import (  # noqa: PLC0415 - likewise
        TikTokenConverter,
    )

    path = str(source / VOCABULARY)
    tokenizer = TikTokenConverter(vocab_file=path, pattern=PATTERN).converted()
    tokenizer.normalizer = normalizers.NFC()
    # The source looks for special tokens after NFC, which makes another character of
    # the last one of a token and a U+0338 behind it.
    tokenizer.add_special_tokens(
        [AddedToken(token, special=True, normalized=True) for token in SPECIAL]
    )
    ranks = count_ranks((source / VOCABULARY).read_bytes())
    if (number := tokenizer.token_to_id(SPECIAL[-1])) != ranks + len(SPECIAL) - 1:
        raise ValueError(f"{SPECIAL[-1]} has become token {number}")
    tokenizer.save(str(target / "tokenizer.json"))


def settings(context: int) -> dict[str, Any]:
    """Give tokenizer_config.json; `context` is in tokens.

    The class is the plain one: transformers 5 makes a Qwen2Tokenizer anew from the
    vocabulary, with a pattern and special tokens of its own.
    """
    return {
        "clean_up_tokenization_spaces": False,
        "eos_token": TURN_END,
        "model_max_length": context,
        "pad_token": TEXT_END,
        "tokenizer_class": "PreTrainedTokenizerFast",
    }


def count_ranks(raw: bytes) -> int:
    """Check a tiktoken vocabulary and give its number of tokens.

    Raises:
        ValueError: a line cannot be read, a rank or a byte is missing, a token is twice.
    """
    tokens = [_token(line, rank) for rank, line in enumerate(raw.splitlines())]
    known = set(tokens)
    if len(known) < len(tokens):
        raise ValueError("it has the same token twice")
    missing = [byte for byte in range(256) if bytes([byte]) not in known]
    if missing:
        raise ValueError(f"it has no token for the byte {missing[0]:#04x}")
    return len(tokens)


def _token(line: bytes, rank: int) -> bytes:
    try:
        token, number = line.split()
        content = base64.b64decode(token, validate=True)
        found = int(number)
    except ValueError as error:
        raise ValueError(
            f"line {rank + 1} is no token and rank: {line[:60]!r}"
        ) from error
    if found != rank or not content:
        raise ValueError(f"line {rank + 1} has rank {found}, not {rank}")
    return content


def _run(words: Sequence[str]) -> int:
    os.environ |= _ENVIRON
    try:
        main(Path(words[0]), Path(words[1]))
    except Exception as error:  # noqa: BLE001 - whatever a library raises, in one line
        reason = " ".join(str(error).split()) or "no reason given"
        print(f"error: {type(error).__name__}: {reason}", file=sys.stderr)
        return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(_run(sys.argv[1:]))
