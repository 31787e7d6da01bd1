"""Server-sent events from a stream of bytes that may be cut anywhere.

https://html.spec.whatwg.org/multipage/server-sent-events.html, section 9.2.5 and 9.2.6,
but for what no OpenAI-compatible server sends: lines that end in a lone carriage return.
"""

from __future__ import annotations


class SseParser:
    """Feed it pieces as they arrive; it gives the data of each event that is complete.

    A piece may end inside a UTF-8 character: bytes are decoded by the event. An event
    that the stream's end cuts short is dropped, as the standard says.
    """

    def __init__(self) -> None:
        """Start at the beginning of a stream."""
        self._rest = b""
        self._data: list[bytes] = []

    @property
    def between_events(self) -> bool:
        """Whether all bytes so far belong to events that are complete."""
        return not self._rest and not self._data

    def feed(self, piece: bytes) -> list[str]:
        """Take the next bytes; give the events that they complete, in order."""
        return [event.decode("utf-8", "replace") for event in self.feed_bytes(piece)]

    def feed_bytes(self, piece: bytes) -> list[bytes]:
        """Do as `feed`, without decoding: a benchmark reads 100,000 events a second."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        events: list[bytes] = []
        for line in lines:
            if line[:5] == b"data:":
                self._data.append(_value(line))
            elif self._data and line in {b"", b"\r"}:
                events.append(b"\n".join(self._data))
                self._data = []
        return events


def _value(line: bytes) -> bytes:
    start = 6 if line[5:6] == b" " else 5
    return line[start:-1] if line[-1:] == b"\r" else line[start:]
