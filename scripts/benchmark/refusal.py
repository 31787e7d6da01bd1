"""Fields that a server refuses: found with the first warm-up, left out of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scripts.benchmark.request import OPTIONAL

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Try = Callable[[frozenset[str]], Awaitable[str]]

_REFUSED = ("HTTP 400", "HTTP 422")


async def refused(attempt: Try) -> frozenset[str]:
    """Find which fields of `OPTIONAL` the server refuses.

    `attempt` sends a request without the given fields and gives the error, empty for
    none. The error's own words say what to leave out; where they name no field, each is
    tried alone.
    """
    without: frozenset[str] = frozenset()
    while (error := await attempt(without)).startswith(_REFUSED):
        named = {name for name in OPTIONAL if name in error} - without
        if not named:
            return without | await _one_by_one(attempt)
        without |= named
    return without


async def _one_by_one(attempt: Try) -> frozenset[str]:
    every = frozenset(OPTIONAL)
    if await attempt(every):
        return frozenset()  # it is something else that the server does not like
    return frozenset(
        [name for name in OPTIONAL if await attempt(every - {name, _holder(name)})]
    )


def _holder(name: str) -> str:
    """Give the field that `name` can only stand in."""
    return "stream_options" if name == "continuous_usage_stats" else name
