"""One request in a result file: all that its numbers were computed from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bundle.model import Strict

if TYPE_CHECKING:
    from scripts.benchmark.outcome import Outcome

_DIGITS = 6  # microseconds; the clock is read no better


class Record(Strict):
    """One request; times are seconds after the start of the run.

    chunks: time and tokens of each chunk that brought tokens. first_token and last_token
    are the times of the first and last of them, `None` if there was none. planned_prompt:
    tokens that were sent, `None` for a chat. The other counts are the server's own,
    `None` if it did not tell; output_tokens may be counted by the client.
    error: empty for a success.
    """

    scheduled: float
    sent: float
    first_token: float | None
    last_token: float | None
    planned_prompt: int | None
    prompt_tokens: int | None
    output_tokens: int
    cached_tokens: int | None
    finish_reason: str
    error: str
    chunks: tuple[tuple[float, int], ...]


def record(outcome: Outcome, start: float) -> Record:
    """Note `outcome` of a run that began at `start` on the outcome's clock."""
    chunks = tuple(
        (round(time - start, _DIGITS), tokens) for time, tokens in outcome.arrivals
    )
    return Record(
        scheduled=round(outcome.scheduled - start, _DIGITS),
        sent=round(outcome.sent - start, _DIGITS),
        first_token=chunks[0][0] if chunks else None,
        last_token=chunks[-1][0] if chunks else None,
        planned_prompt=outcome.planned_prompt,
        prompt_tokens=outcome.prompt_tokens,
        output_tokens=outcome.tokens,
        cached_tokens=outcome.cached_tokens,
        finish_reason=outcome.finish_reason,
        error=outcome.error,
        chunks=chunks,
    )
