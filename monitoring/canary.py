"""Is it sense? A server that answers nonsense at full speed is down.

No health check sees that: `/health` says 200, and tokens flow.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bundle.model import Question

CJK = re.compile("[\u3400-\u9fff]")
_REPEATED = re.compile(r"([^\s.\-=_*#])\1{7}")  # rulers and dots may be long
_EXCLAIMED = "!!!!"  # token 0 of Qwen: what a decoder of zeros writes


def correct(text: str, question: Question) -> bool:
    """Whether one of the right answers is said; `text` may be cut anywhere.

    Simpler than the grading of the smoke test: the questions are easy, and what is
    looked for is an engine that computes garbage, not a model that errs.
    """
    said = plain(text)
    return any(plain(word) in said for word in question.any_of)


def garbled(text: str, question: Question) -> bool:
    """Whether `text` is what broken arithmetic or a wrong tokenizer looks like."""
    # The token limit may cut a character in two; only the last one.
    body = text.removesuffix("\N{REPLACEMENT CHARACTER}")
    expects_cjk = all(CJK.search(word) for word in question.any_of)
    return bool(
        not re.search(r"\w", body)
        or "\N{REPLACEMENT CHARACTER}" in body
        or _EXCLAIMED in body
        or _REPEATED.search(body)
        or (expects_cjk and not CJK.search(body))
    )


def plain(text: str) -> str:
    """Give `text` in half width and lower case."""
    return unicodedata.normalize("NFKC", text).casefold()
