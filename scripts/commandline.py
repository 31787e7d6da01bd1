"""argparse with the bundle's exit code for wrong usage: 64, where argparse says 2."""

from __future__ import annotations

import argparse
from typing import NoReturn

from bundle.errors import Problem, WrongUsage


class Parser(argparse.ArgumentParser):
    """An argument parser that raises `WrongUsage`."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of exiting with 2, which here means "could not run"."""
        raise WrongUsage(Problem(message, f"see `{self.prog} --help`"))


def at_least_one(word: str) -> int:
    """Read a whole number of at least 1."""
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"{word!r} is no whole number of at least 1")
    return int(word)


def positive(word: str) -> float:
    """Read a number above 0; `inf` is one."""
    try:
        number = float(word)
    except ValueError:
        number = 0.0
    if not number > 0:
        raise argparse.ArgumentTypeError(f"{word!r} is no number above 0")
    return number
