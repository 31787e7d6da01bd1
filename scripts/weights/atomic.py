"""A folder that appears complete, or not at all."""

from __future__ import annotations

import ctypes
import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

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
    """
    partial = target.with_name(f".{target.name}.partial")
    if not keep:
        shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True, exist_ok=True)
    try:
        yield partial
        _flush(partial)
        _replace(partial, target)
    except BaseException:
        if not keep:
            shutil.rmtree(partial, ignore_errors=True)
        raise


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
