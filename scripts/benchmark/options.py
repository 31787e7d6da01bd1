"""Command line options that shape the load beyond the base point."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

from bundle.errors import Problem, WrongUsage, raise_all
from scripts.benchmark import dataset
from scripts.benchmark.load import Load
from scripts.commandline import MOST, at_least_one, positive

if TYPE_CHECKING:
    from collections.abc import Iterator


_SCHEMES = ("http://", "https://")


def add(parser: argparse.ArgumentParser) -> None:
    """Add them to `parser`."""
    closed = "a closed loop: so many requests under way at any time, instead of a rate"
    parser.add_argument("--concurrency", type=at_least_one, help=closed)
    longer = "go on, past --num-prompts, for at least so long"
    parser.add_argument("--min-seconds", type=positive, default=0.0, help=longer)
    spread = "0.5: input lengths from half to one and a half times --input-len"
    parser.add_argument("--input-len-range", type=_share, default=0.0, help=spread)
    prefix = "tokens that all prompts begin with; the prefix cache may hold them"
    parser.add_argument("--prefix-len", type=at_least_one, default=0, help=prefix)
    turns = "requests of a conversation; --num-prompts conversations are held"
    parser.add_argument("--turns", type=at_least_one, default=1, help=turns)
    chats = 'a JSONL file of {"messages": […]}, sent instead of random tokens'
    parser.add_argument("--dataset", type=Path, help=chats)
    first = "requests before the run; with 0 it is not found out what the server refuses"
    parser.add_argument("--warm-ups", type=_count, default=Load("").warm_ups, help=first)


def load(options: argparse.Namespace, model: str) -> Load:
    """Give the load that the options ask for; raises `WrongUsage` if they clash."""
    raise_all(WrongUsage, _clashes(options))
    return Load(
        model,
        options.input_len,
        options.output_len,
        options.request_rate,
        options.num_prompts,
        options.seed,
        options.warm_ups,
        concurrency=options.concurrency,
        min_seconds=options.min_seconds,
        input_len_range=options.input_len_range,
        prefix_len=options.prefix_len,
        turns=options.turns,
        chats=dataset.read(options.dataset) if options.dataset else (),
    )


def _clashes(options: argparse.Namespace) -> Iterator[Problem]:
    given = options.dataset is not None
    random = options.prefix_len or options.turns > 1 or options.input_len_range
    if given and random:
        yield Problem(
            "--dataset with --prefix-len, --turns or --input-len-range",
            "leave these out: they shape random prompts",
        )
    if options.sweep and options.concurrency:
        yield Problem(
            "--sweep with --concurrency",
            "leave one out: a sweep offers rates, a closed loop has none",
        )
    if (options.concurrency or 0) > options.num_prompts and not options.min_seconds:
        yield Problem(
            f"--concurrency {options.concurrency} of {options.num_prompts} requests",
            "give more --num-prompts, or --min-seconds: it is never reached",
        )
    at_once = math.isinf(options.request_rate) and not options.concurrency
    if options.min_seconds and at_once:
        yield Problem(
            "--min-seconds with all requests at once",
            "give a finite --request-rate, or --concurrency",
        )
    elif options.min_seconds > MOST / (
        1 if options.concurrency else options.request_rate
    ):
        yield Problem(
            f"--min-seconds {options.min_seconds:g} would not end",
            f"ask for at most {MOST} requests",
        )
    if options.against is not None and not options.against.startswith(_SCHEMES):
        yield Problem(
            f"--against {options.against!r} is no address", "write http://HOST:PORT"
        )


def _count(word: str) -> int:
    """Read a whole number of at least 0."""
    return 0 if word == "0" else at_least_one(word)


def _share(word: str) -> float:
    """Read a number from 0 up to but not 1."""
    try:
        number = float(word)
    except ValueError:
        number = math.nan
    if not 0 <= number < 1:
        raise argparse.ArgumentTypeError(f"{word!r} is no number from 0 to below 1")
    return number
