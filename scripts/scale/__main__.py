"""`python -m scripts.scale`: the tables of docs/scale.md (10 s)."""

from __future__ import annotations

import sys
from dataclasses import fields
from typing import TYPE_CHECKING

from bundle.errors import ExitCode, run_command
from scripts.commandline import Parser, at_least_one, positive
from scripts.scale.card import Card, crowded
from scripts.scale.day import LOAD, simulate
from scripts.scale.scaler import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SIZES = (1, 10, 100, 1000)
RULES = (
    None,
    Rule(4, None),
    Rule(1, None),
    *(Rule(4, running) for running in (48, 32, 24, 16)),
)
MEANS = (24, 32, 48, 60)


def curve(card: Card) -> Iterator[str]:
    """Give the table of one replica."""
    yield "| requests/s | running | TPOT, ms |"
    yield "|---|---|---|"
    for rate in (1, 3.56, 8, 12, card.capacity()):
        running = card.steady(rate)
        tpot = card.tpot(running, rate * card.prefill) * 1000
        yield f"| {rate:g} | {running:.1f} | {tpot:.1f} |"


def days(card: Card) -> Iterator[str]:
    """Give the table of all days."""
    yield (
        "| replicas at most | peak, requests/s | waiting | running | TTFT ≤ 0.5 s "
        "| TTFT p99, s | TPOT ≤ 30 ms | replica-hours |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for most in SIZES:
        for rule in RULES if most > 1 else (None,):
            yield _row(card, rule, most)


def _row(card: Card, rule: Rule | None, most: int) -> str:
    day = simulate(card, rule, most)
    peak = LOAD * most * card.capacity()
    words = (rule.waiting, rule.running or "-") if rule else ("all are on", "-")
    return (
        f"| {most} | {peak:.0f} | {words[0]} | {words[1]} | {day.ttft_good:.1%} "
        f"| {day.ttft_p99:.2f} | {day.tpot_good:.1%} | {day.used:.0%} |"
    )


def spread(card: Card) -> Iterator[str]:
    """Give the table of a spread at random."""
    yield f"| running, mean | pods with more than {card.batch} |"
    yield "|---|---|"
    for mean in MEANS:
        yield f"| {mean} | {crowded(mean, card.batch):.2%} |"


def main(words: Sequence[str]) -> int:
    """Print all tables."""
    card = _card(words)
    for table in (curve, days, spread):
        print("\n".join(table(card)), end="\n\n")
    return ExitCode.GOOD


def _card(words: Sequence[str]) -> Card:
    """Read a card of which more was measured."""
    parser = Parser("python -m scripts.scale", description=__doc__)
    for one in fields(Card):
        whole = isinstance(one.default, int)
        parser.add_argument(
            f"--{one.name.replace('_', '-')}",
            type=at_least_one if whole else positive,
            default=one.default,
            help=f"{one.default} as it is",
        )
    return Card(**vars(parser.parse_args(words)))


if __name__ == "__main__":
    sys.exit(run_command(lambda: main(sys.argv[1:])))
