"""JSON from outside: an object without duplicate names, and not too long."""

from __future__ import annotations

import json
from typing import Any

# A safetensors header may have 100 MB. That of Qwen-1's largest model has 0.1 MB, and
# parsed JSON takes up to thirty times its length, which must stay below 256 MB.
MAX_JSON = 4 << 20


class Malformed(ValueError):
    """What is wrong with a header."""


def load_json(raw: bytes) -> dict[str, Any]:
    """Read a JSON object without duplicate names; raises `Malformed`."""
    try:
        entries = json.loads(raw.decode("utf-8"), object_pairs_hook=_unique)
    except Malformed:
        raise
    except (ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0]
        raise Malformed(f"its JSON cannot be read: {reason}") from error
    if not isinstance(entries, dict):
        raise Malformed("its JSON is not an object")
    return entries


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for name, value in pairs:
        if name in entries:
            raise Malformed(f"{name[:200]!r} appears twice")
        entries[name] = value
    return entries
