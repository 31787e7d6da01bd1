"""Bytes of an answer into a `Stream`: the way that each chunk of a run takes.

A client that is slow measures itself. Where a server is faster than the client, a piece
has many events, all of one arrival time; those of the common form are counted together,
at a fifth of what it costs to take them apart. `tests/bench_client.py` measures it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bundle.sse import SseParser

if TYPE_CHECKING:
    from scripts.benchmark.stream import Stream

_END = b"\n\n"


class Reader:
    """Feed it pieces as they arrive; what they say goes to `stream`."""

    def __init__(self, stream: Stream) -> None:
        """Start at the beginning of an answer."""
        self._stream = stream
        self._parser = SseParser()
        self._rest = b""

    def feed(self, piece: bytes, now: float) -> None:
        """Take the next bytes, which arrived at `now`."""
        piece, self._rest = self._rest + piece, b""
        if not self._ready:  # it may be, after the event that is not yet read
            first, end, piece = piece.partition(_END)
            self._take_apart(first + end, now)
        whole, end, rest = piece.rpartition(_END)
        if self._ready and self._stream.add_quickly(whole + end, now):
            self._rest = rest
        else:
            self._take_apart(piece, now)

    @property
    def _ready(self) -> bool:
        return self._stream.quick and self._parser.between_events

    def _take_apart(self, piece: bytes, now: float) -> None:
        for event in self._parser.feed_bytes(piece):
            self._stream.add(event, now)
