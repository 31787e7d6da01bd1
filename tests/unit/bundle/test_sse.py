"""Server-sent events: the pieces in which bytes arrive never matter."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from bundle.sse import SseParser

STREAM = (
    'data: {"text":"你好🙂"}\r\n\r\n: comment\n\nevent: x\ndata: a\ndata: b\n\n'
    "data:\r\ndata: c\r\n\r\n\ndata:no space\n\n"
    "data:  two\n\nid: 7\n\ndata: [DONE]\n\ndata: cut short"
).encode()
EVENTS = ['{"text":"你好🙂"}', "a\nb", "\nc", "no space", " two", "[DONE]"]


def _feed(pieces: list[bytes]) -> list[str]:
    parser = SseParser()
    return [event for piece in pieces for event in parser.feed(piece)]


def test_a_whole_stream_gives_its_events() -> None:
    assert _feed([STREAM]) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=60))
def test_any_split_gives_the_same_events(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[a:b] for a, b in itertools.pairwise(edges)]

    assert _feed(pieces) == EVENTS


def test_single_bytes_split_each_character_and_give_the_same_events() -> None:
    assert _feed([bytes([byte]) for byte in STREAM]) == EVENTS


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\r\n")), max_size=9
    ),
    st.data(),
)
def test_any_text_comes_back_through_any_split(
    texts: list[str], data: st.DataObject
) -> None:
    stream = b"".join(b"data: " + text.encode() + b"\n\n" for text in texts)
    cut = data.draw(st.integers(0, len(stream)))

    assert _feed([stream[:cut], stream[cut:]]) == texts
