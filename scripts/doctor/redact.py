"""Take secrets out of text before it leaves the host."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

HIDDEN = "(redacted)"
_NAMES = re.compile(r"(?i)key|token|secret|passw|credential|auth|cookie")
_SHORTEST = 6  # a shorter value would be found in the middle of words
# What is secret by its looks, wherever it stands.
_LOOKS = (
    (r"(?i)(\bbearer\s+)[^\s\"',;]+", r"\1"),
    (r"(://[^/\s:@]*:)[^/\s@]+(?=@)", r"\1"),
    (
        r"(?i)((?:api[_-]?key|token|secret|password|passwd)\"?'?\s*[=:\s]\s*\"?'?)[^\s\"',;&]+",
        r"\1",
    ),
    (r"\b(sk-|hf_|ghp_|glpat-|AKIA)[\w.+/=-]{6,}", r"\1"),
    (r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END|\Z)", ""),
)


def redactor(environ: Mapping[str, str], more: Iterable[str]) -> Callable[[str], str]:
    """Give a function that hides known secrets, and what looks like one.

    Known are the values of variables whose name says so, and `more`.
    """
    named = (value for name, value in environ.items() if _NAMES.search(name))
    values = {value for value in (*named, *more) if len(value) >= _SHORTEST}
    known = "|".join(re.escape(value) for value in sorted(values, key=len, reverse=True))

    def redact(text: str) -> str:
        if known:
            text = re.sub(known, HIDDEN, text)
        for pattern, kept in _LOOKS:
            text = re.sub(pattern, kept + HIDDEN, text)
        return text

    return redact
