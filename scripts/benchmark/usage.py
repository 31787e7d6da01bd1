"""The server's own counts, as a chunk tells them: whole numbers, or no answer at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_MOST = 1 << 32  # tokens; no request has so many


@dataclass(frozen=True)
class Usage:
    """Tokens of one request; `None` for what the server does not tell."""

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None

    @classmethod
    def of(cls, told: dict[str, Any]) -> Usage:
        """Read `usage`; raises `ValueError` or `AttributeError` if it is none."""
        details = told.get("prompt_tokens_details") or {}
        prompt = _count(told.get("prompt_tokens"))
        cached = _count(details.get("cached_tokens"))
        if prompt is not None and (cached or 0) > prompt:
            raise ValueError("more tokens from the cache than there are")
        return cls(prompt, _count(told.get("completion_tokens")), cached)


def _count(told: object) -> int | None:
    if told is None:
        return None
    if not isinstance(told, int) or isinstance(told, bool) or not 0 <= told <= _MOST:
        raise ValueError("no count of tokens")
    return told
