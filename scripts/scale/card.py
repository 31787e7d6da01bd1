"""How one replica answers, and many behind a router that spreads evenly."""

from __future__ import annotations

import math
from dataclasses import dataclass

TTFT_SECONDS, TPOT_SECONDS = 0.5, 0.03  # the objectives in models/qwen-1_8b-chat


@dataclass(frozen=True)
class Card:
    """One replica: seconds for a prefill, and for a step of a batch, by its size.

    `step` is chosen so that the model goes through the reference run's base point, 512
    tokens in, 128 out at 3.56 requests/s: TPOT 15.71 ms, TTFT 62 ms. The other times are
    assumptions: no other load was measured on a card.
    """

    prefill: float = 0.020
    step: float = 0.01388
    step_per_sequence: float = 0.0001
    ttft: float = 0.062
    tokens: int = 128
    batch: int = 64

    def tpot(self, running: float, prefilling: float) -> float:
        """Seconds between tokens; prefills take `prefilling`, 0 to 1, of the time."""
        step = self.step + self.step_per_sequence * running
        return step / max(1 - prefilling, 0.01)

    def steady(self, rate: float) -> float:
        """Requests that run at `rate` requests/s; infinite beyond what it can carry.

        Little's law, running = rate * tokens * TPOT(running), solved for running.
        """
        decoding = rate * self.tokens * self.step_per_sequence
        free = 1 - rate * self.prefill - decoding
        return rate * self.tokens * self.step / free if free > 0 else math.inf

    def within(self, rate: float) -> bool:
        """Whether `rate` requests/s run at once and within the objective of TPOT."""
        running = self.steady(rate)
        tpot = self.tpot(running, rate * self.prefill)
        return running <= self.batch and tpot <= TPOT_SECONDS

    def capacity(self) -> float:
        """Requests/s within the objectives, in steps of 0.1."""
        return max(tenth / 10 for tenth in range(1, 500) if self.within(tenth / 10))


@dataclass
class Pool:
    """All replicas that are ready, with the requests that wait and run.

    `prefilling` is the share of the last second that went into prefills.
    """

    card: Card
    ready: int
    waiting: float = 0
    running: float = 0
    prefilling: float = 0

    def second(self, arrived: float) -> tuple[float, float]:
        """Pass a second; give TTFT of those who arrived, and TPOT of all that run."""
        tpot = self.card.tpot(self.running / self.ready, self.prefilling)
        ended = self.running / max(tpot * self.card.tokens, 1)
        free = max(self.ready * self.card.batch - self.running + ended, 0)
        admitted = min(self.waiting + arrived, free, self.ready / self.card.prefill)
        self.prefilling = admitted * self.card.prefill / self.ready
        self.waiting += arrived - admitted
        self.running += admitted - ended
        return self.card.ttft + self.waiting / max(ended, 0.1), tpot


def crowded(mean: float, batch: int) -> float:
    """Share of pods with more than `batch` requests, if each picks a pod at random.

    Requests of a pod are then Poisson distributed with the mean of all pods.
    """
    logs = (n * math.log(mean) - mean - math.lgamma(n + 1) for n in range(batch + 1))
    return max(1 - sum(map(math.exp, logs)), 0)
