"""Operator-facing errors: what is wrong, the one remedy, where to read more.

A traceback is for our own bugs only; whatever a user can cause is a `Problem`.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from bundle.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


# Errors of a write that a user can cause.
_UNWRITABLE = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_SPACE = "free some disk, or write it elsewhere"


class ExitCode(IntEnum):
    """Every exit code of every command; `docs/runbook.md` explains each."""

    GOOD = 0
    CHECK_FAILED = 1
    COULD_NOT_RUN = 2
    WRONG_USAGE = 64
    HOST_NOT_READY = 69
    BAD_SETTINGS = 78


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: `what` with the value found, and its one `remedy`."""

    what: str
    remedy: str
    see: str = ""

    def __str__(self) -> str:
        """Give two lines: what, and its fix; a terminal obeys none of what was found."""
        what = "\n".join(map(visible, self.what.splitlines()))
        return f"error: {what}\n  fix: {self.remedy}"


class BundleError(Exception):
    """One or more problems that end a command with `exit_code`."""

    exit_code = ExitCode.COULD_NOT_RUN

    def __init__(self, *problems: Problem) -> None:
        """Hold every problem found, so that they are all reported in one go."""
        super().__init__(*problems)
        self.problems = problems

    def __str__(self) -> str:
        """Every problem, then one line that says where to read more."""
        lines = [str(problem) for problem in self.problems]
        pages = [problem.see for problem in self.problems if problem.see]
        more = pages[0] if pages else f"docs/runbook.md#exit-{self.exit_code:d}"
        return "\n".join([*lines, f"  more: {more}"])


class CouldNotRun(BundleError):
    """The command could not do its work."""


class CheckFailed(BundleError):
    """The command did its work, and the result is not good."""

    exit_code = ExitCode.CHECK_FAILED


class WrongUsage(BundleError):
    """The command line makes no sense."""

    exit_code = ExitCode.WRONG_USAGE


class HostNotReady(BundleError):
    """This machine lacks something that the command needs."""

    exit_code = ExitCode.HOST_NOT_READY


class BadSettings(BundleError):
    """A setting or a model file is wrong."""

    exit_code = ExitCode.BAD_SETTINGS


def raise_all(error: type[BundleError], problems: Iterable[Problem]) -> None:
    """Raise `error` with all `problems`, if there are any."""
    if found := tuple(problems):
        raise error(*found)


def run_command(main: Callable[[], int]) -> int:
    """Run `main`; turn what a user can cause into a message and an exit code.

    So is output that nobody takes: a full disk, or `| head`.
    https://docs.python.org/3/library/signal.html#note-on-sigpipe
    """
    _prepare_output()
    try:
        return _run(main)
    except OSError as error:
        # What cannot be opened has a name; what cannot be written to has none.
        if error.filename or error.errno not in _UNWRITABLE:
            raise
        _drop_output()
        if error.errno != errno.EPIPE:
            problem = Problem(f"the output cannot be written: {error.strerror}", _SPACE)
            print(CouldNotRun(problem), file=sys.stderr, flush=True)
        return ExitCode.COULD_NOT_RUN


def _run(main: Callable[[], int]) -> int:
    try:
        return main()
    except BundleError as error:
        print(error, file=sys.stderr, flush=True)
        return error.exit_code
    except KeyboardInterrupt:
        print("\nstopped by Ctrl-C", file=sys.stderr, flush=True)
        return ExitCode.COULD_NOT_RUN
    finally:
        sys.stdout.flush()  # here, where an error can be told


def _prepare_output() -> None:
    """Let every character be written, and have somewhere to write to."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # it was closed by `>&-`
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - as long as we live
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Keep Python from writing at its end what could not be written now."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
