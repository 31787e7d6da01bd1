"""What to put on a server."""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from bundle.api import Message


class Progress(Protocol):
    """Is told requests done, of how many, and what to show beside."""

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """Show it."""


def _run_id() -> str:
    return secrets.token_hex(8)


@dataclass(frozen=True)
class Load:
    """A load; the defaults are the base point of the reference run.

    rate: requests per second. concurrency: a closed loop instead of a rate, with as many
    requests always under way. min_seconds: go on past `num_prompts` until then.
    input_len_range: 0.5 draws lengths from half to one and a half times `input_len`.
    prefix_len: tokens that each prompt begins with. turns: requests of a conversation, of
    which `num_prompts` are held. chats: what to send instead of random tokens; how long
    the answer is, up to `output_len`, the model decides.
    stall_seconds: how long a stream may bring nothing.
    run_id goes into each request's `cache_salt`: another one finds a cold prefix cache.
    """

    model: str
    input_len: int = 512
    output_len: int = 128
    rate: float = 4.0
    num_prompts: int = 64
    seed: int = 0
    warm_ups: int = 4
    stall_seconds: float = 300.0
    run_id: str = field(default_factory=_run_id)
    concurrency: int | None = None
    min_seconds: float = 0.0
    input_len_range: float = 0.0
    prefix_len: int = 0
    turns: int = 1
    chats: tuple[tuple[Message, ...], ...] = ()

    @property
    def open_rate(self) -> float:
        """Requests per second that arrive whatever the server does; infinite for none."""
        return math.inf if self.concurrency else self.rate

    @property
    def count(self) -> int:
        """How many prompts to send at least; as many as the rate brings in the time."""
        if math.isinf(self.open_rate):
            return self.num_prompts
        return max(self.num_prompts, math.ceil(self.open_rate * self.min_seconds))

    @property
    def cached(self) -> bool:
        """Whether the load is meant to find its prefixes in the cache."""
        return bool(self.prefix_len) or self.turns > 1

    def anew(self, **changes: Any) -> Load:  # noqa: ANN401 - any field of a load
        """Give this load once more, which finds a cold prefix cache."""
        return replace(self, run_id=_run_id(), **changes)

    def salt(self, purpose: str, index: int) -> str:
        """Give a `cache_salt`; requests share the cache's blocks if they share it."""
        shared = purpose == "run" and self.prefix_len
        return f"{self.run_id}-{purpose}" + ("" if shared else f"-{index}")
