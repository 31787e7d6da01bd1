"""argparse with the bundle's exit code for wrong usage: 64, where argparse says 2."""

from __future__ import annotations

import argparse
import math
from typing import NoReturn

from bundle.errors import Problem, WrongUsage

MOST = 1_000_000  # requests, tokens or seconds; more is a slip of the keyboard
_DIGITS = 20


class Parser(argparse.ArgumentParser):
    """An argument parser that raises `WrongUsage`."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of exiting with 2, which here means "could not run"."""
        raise WrongUsage(Problem(message, f"see `{self.prog} --help`"))


def at_least_one(word: str) -> int:
    """Read a whole number of at least 1, and of a size that a computer can do."""
    number = int(word) if word.isdecimal() and len(word) < _DIGITS else 0
    if not 1 <= number <= MOST:
        raise argparse.ArgumentTypeError(f"{word!r} is no whole number from 1 to {MOST}")
    return number


def positive(word: str) -> float:
    """Read a number above 0 of such a size; `inf` is one."""
    try:
        number = float(word)
    except ValueError:
        number = 0.0
    if not (1 / MOST <= number <= MOST or (math.isinf(number) and number > 0)):
        what = f"{word!r} is no number above 0, from {1 / MOST:g} to {MOST}, or inf"
        raise argparse.ArgumentTypeError(what)
    return number
