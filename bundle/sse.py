"""Server-sent events from a stream of bytes that may be cut anywhere.

https://html.spec.whatwg.org/multipage/server-sent-events.html, section 9.2.5 and 9.2.6,
but for what no OpenAI-compatible server sends: lines that end in a lone carriage return.
"""

from __future__ import annotations


class SseParser:
    """Feed it pieces as they arrive; it gives the data of each event that is complete.

    Bytes are decoded line by line, so a piece may end inside a UTF-8 character. An event
    that the stream's end cuts short is dropped, as the standard says.
    """

    def __init__(self) -> None:
        """Start at the beginning of a stream."""
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> list[str]:
        """Take the next bytes; give the events that they complete, in order."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        events = [self._line(line.removesuffix(b"\r")) for line in lines]
        return [event for event in events if event is not None]

    def _line(self, line: bytes) -> str | None:
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
        elif not line and self._data:
            event = b"\n".join(self._data).decode("utf-8", "replace")
            self._data.clear()
            return event
        return None
