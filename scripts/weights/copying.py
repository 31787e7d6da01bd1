"""Copy a file's data behind a new header, with both files' sha256 on the way.

Hashing is the slower half, so each side has a thread; hashlib lets go of Python's lock.
"""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CHUNK = 1 << 20
_FLUSH_EVERY = 128  # chunks; the disk works while the next ones are hashed
_BUFFERS = 8  # one is filled while the others are hashed


@dataclass(frozen=True)
class Digests:
    """Hex sha256 of the file that was read and of the one that was written."""

    source: str
    target: str


@dataclass(frozen=True)
class Part:
    """Bytes `begin` to `end` of the source's data; `kept` ones are written."""

    begin: int
    end: int
    kept: bool


class _Side:
    """A sha256 in a thread of its own."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self._thread = ThreadPoolExecutor(1)

    def add(self, piece: bytes | memoryview) -> Future[None]:
        return self._thread.submit(self._digest.update, piece)

    def end(self) -> str:
        self._thread.shutdown()
        return self._digest.hexdigest()


def copy(
    source: Path, data_start: int, target: Path, header: bytes, parts: tuple[Part, ...]
) -> Digests:
    """Write `header` and the kept `parts` of the source's data to `target`.

    `parts` cover the data without a gap. Takes 8 MiB however large the file is.

    Raises:
        OSError: of reading or writing; EOFError: the source ended early.
    """
    read, written = _Side(), _Side()
    try:
        with (
            source.open("rb", 0) as file,
            target.open("wb", 0) as out,
            ThreadPoolExecutor(1) as disk,
        ):
            _write_all(out, header)
            written.add(header)
            read.add(file.read(data_start))
            flushes = [
                disk.submit(os.fdatasync, out.fileno())
                for number in _pump(file, out, parts, read, written)
                if number % _FLUSH_EVERY == 0
            ]
            for flush in flushes:  # an error of the disk is told only once
                flush.result()
    finally:
        digests = Digests(read.end(), written.end())
    return digests


def _pump(
    file: IO[bytes], out: IO[bytes], parts: tuple[Part, ...], read: _Side, written: _Side
) -> Iterator[int]:
    """Copy and hash chunk by chunk; give the number of each."""
    buffers = [memoryview(bytearray(_CHUNK)) for _ in range(_BUFFERS)]
    busy: list[list[Future[None]]] = [[] for _ in range(_BUFFERS)]
    for number, (size, kept) in enumerate(_pieces(parts)):
        slot = number % _BUFFERS
        for future in busy[slot]:
            future.result()
        piece = buffers[slot][:size]
        _fill(file, piece)
        busy[slot] = [read.add(piece)]
        if kept:
            busy[slot].append(written.add(piece))
            _write_all(out, piece)
        yield number


def _pieces(parts: tuple[Part, ...]) -> Iterator[tuple[int, bool]]:
    for part in parts:
        for begin in range(part.begin, part.end, _CHUNK):
            yield min(_CHUNK, part.end - begin), part.kept


def _fill(file: IO[bytes], piece: memoryview) -> None:
    filled = 0
    while filled < len(piece):
        count = file.readinto(piece[filled:])  # type: ignore[attr-defined]
        if not count:
            raise EOFError
        filled += count


def _write_all(out: IO[bytes], piece: bytes | memoryview) -> None:
    view = memoryview(piece)
    while view:
        view = view[out.write(view) :]
