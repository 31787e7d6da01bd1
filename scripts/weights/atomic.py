"""A folder that appears complete, or not at all."""

from __future__ import annotations

import ctypes
import fcntl
import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bundle.errors import CouldNotRun, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_HERE = -100  # AT_FDCWD: paths are relative to the working directory
_EXCHANGE = 2


@contextmanager
def new_folder(target: Path, *, keep: bool = False) -> Iterator[Path]:
    """Give a folder beside `target` that takes its place when the block ends well.

    A failure or a kill leaves `target` as it was. With `keep`, what was made so far
    stays for the next run, so that a download goes on where it broke off.

    Raises:
        CouldNotRun: another process makes the same folder now.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with _alone(target):
        yield from _made(target, keep=keep)


def _made(target: Path, *, keep: bool) -> Iterator[Path]:
    partial = target.with_name(f".{target.name}.partial")
    if not keep:
        shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(exist_ok=True)
    try:
        yield partial
        _flush(partial)
        _replace(partial, target)
    except BaseException:
        if not keep:
            shutil.rmtree(partial, ignore_errors=True)
        raise


@contextmanager
def _alone(target: Path) -> Iterator[None]:
    """Keep others from the same partial folder; the kernel ends it with the process."""
    path = target.with_name(f".{target.name}.lock")
    with path.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Removed by one who has just ended: a lock on it would keep nobody away.
            held = path.exists() and path.samefile(f"/dev/fd/{lock.fileno()}")
        except BlockingIOError:
            held = False
        if not held:
            what = f"another process writes {target} now"
            raise CouldNotRun(Problem(what, "wait for its end, or name another target"))
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def _replace(partial: Path, target: Path) -> None:
    """Move `partial` to `target`; what was there is gone only after that."""
    if target.exists():
        _exchange(partial, target)
        shutil.rmtree(partial)
    else:
        partial.rename(target)
    _flush_entry(target.parent)


def _exchange(one: Path, other: Path) -> None:
    """Swap two folders in one step, so that there is none at no moment.

    Where the file system cannot (NFS), the other is away for the blink of two renames.
    https://man7.org/linux/man-pages/man2/rename.2.html, RENAME_EXCHANGE
    """
    names = os.fsencode(one), os.fsencode(other)
    libc = ctypes.CDLL(None)
    if libc.renameat2(_HERE, names[0], _HERE, names[1], _EXCHANGE) != 0:
        aside = one.with_name(f"{one.name}.aside")
        other.rename(aside)
        one.rename(other)
        aside.rename(one)


def _flush(folder: Path) -> None:
    for path in folder.rglob("*"):
        _flush_entry(path)
    _flush_entry(folder)


def _flush_entry(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
