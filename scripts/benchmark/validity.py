"""Whether a run measured what it set out to measure.

A run with a wrong token count or a warm cache is not a slower run: it is no run. What a
server does not tell is not checked, and the result says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from bundle.model import Strict
from scripts.statistics import percentile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scripts.benchmark.load import Load
    from scripts.benchmark.outcome import Outcome

SEND_LAG = "send lag"
MAX_SEND_LAG_MS = 10


class Validity(Strict):
    """One check of a run, with what was found."""

    check: str
    verdict: Literal["pass", "fail", "not checked"]
    found: str


def check(outcomes: Sequence[Outcome], load: Load) -> tuple[Validity, ...]:
    """Run every check; a run is valid if none of them fails."""
    return tuple(one(outcomes, load) for one in CHECKS)


def no_request_failed(outcomes: Sequence[Outcome], _load: Load) -> Validity:
    """Each request: HTTP 200, no error in the stream, an end, and all its tokens."""
    errors = [outcome.error for outcome in outcomes if outcome.error]
    first = f", first: {errors[0]}" if errors else ""
    return _validity(
        "no request failed", not errors, f"{len(errors)} of {len(outcomes)}{first}"
    )


def prompt_length(outcomes: Sequence[Outcome], load: Load) -> Validity:
    """Each prompt had as many tokens as planned, by the server's count."""
    counts = [outcome.prompt_tokens for outcome in _good(outcomes)]
    return _exact("prompt tokens", counts, load.input_len)


def output_length(outcomes: Sequence[Outcome], load: Load) -> Validity:
    """Each output had as many tokens as planned, by the server's count or its ids."""
    counts = [
        None
        if outcome.counted == "chunks" and outcome.completion_tokens is None
        else outcome.tokens
        for outcome in _good(outcomes)
    ]
    return _exact("output tokens", counts, load.output_len)


def cache_cold(outcomes: Sequence[Outcome], _load: Load) -> Validity:
    """No prompt token came from the prefix cache."""
    counts = [outcome.cached_tokens for outcome in _good(outcomes)]
    return _exact("cached prompt tokens", counts, 0)


def sent_on_time(outcomes: Sequence[Outcome], _load: Load) -> Validity:
    """The client kept its own schedule: the 95th percentile of the send lag."""
    lag = percentile([1000 * (one.sent - one.scheduled) for one in outcomes], 95)
    found = f"P95 {lag:.1f} ms, at most {MAX_SEND_LAG_MS}"
    return _validity(SEND_LAG, lag <= MAX_SEND_LAG_MS, found)


CHECKS: tuple[Callable[[Sequence[Outcome], Load], Validity], ...] = (
    no_request_failed,
    prompt_length,
    output_length,
    cache_cold,
    sent_on_time,
)


def _good(outcomes: Sequence[Outcome]) -> list[Outcome]:
    return [outcome for outcome in outcomes if not outcome.error]


def _exact(name: str, counts: Sequence[int | None], expected: int) -> Validity:
    known = [count for count in counts if count is not None]
    if len(known) < len(counts) or not counts:
        told = f"the server told {len(known)} of {len(counts)} counts"
        return Validity(check=name, verdict="not checked", found=told)
    found = f"{min(known)} to {max(known)}, expected {expected}"
    return _validity(name, set(known) == {expected}, found)


def _validity(name: str, good: bool, found: str) -> Validity:  # noqa: FBT001 - the verdict itself
    return Validity(check=name, verdict="pass" if good else "fail", found=found)
