"""An answer read quickly is the answer taken apart, wherever it is cut."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from scripts.benchmark.reader import Reader
from scripts.benchmark.request import Ask
from scripts.benchmark.stream import Stream

if TYPE_CHECKING:
    from scripts.benchmark.outcome import Outcome

# Texts that look like what is counted, as JSON writes them.
TEXTS = st.text(max_size=5) | st.sampled_from(
    ['"token_ids":[1,2]', '"finish_reason":null', "\n\n", "data: ", ']"token_ids":[']
)
CHUNKS = st.lists(st.tuples(TEXTS, st.integers(0, 3)), min_size=1, max_size=12)


def _stream(chunks: list[tuple[str, int]], newline: str, comment: str) -> bytes:
    events = []
    for index, (text, tokens) in enumerate(chunks):
        last = index == len(chunks) - 1
        choice = {"text": text, "finish_reason": "length" if last else None}
        choices = [{**choice, "stop_reason": None, "token_ids": [7] * tokens}]
        events.append(json.dumps({"choices": choices}, separators=(",", ":")))
    usage = {"completion_tokens": sum(tokens for _, tokens in chunks)}
    events += [json.dumps({"choices": [], "usage": usage}), "[DONE]"]
    lines = f"{newline}{newline}{comment}".join(f"data: {event}" for event in events)
    return f"{lines}{newline}{newline}".encode()


def _read(pieces: list[bytes], *, quick: bool) -> Outcome:
    ask = Ask("m", (1,), 1, "", without=frozenset({"ignore_eos"}), keep_ids=not quick)
    stream = Stream(ask)
    reader = Reader(stream)
    for piece in pieces:
        reader.feed(piece, 1.0)
    return stream.outcome(0.0, 0.0)


@given(
    CHUNKS,
    st.lists(st.floats(0, 1), max_size=8),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", ": ping\n\n"]),
)
def test_any_cut_gives_the_same_tokens_at_the_same_time(
    chunks: list[tuple[str, int]], cuts: list[float], newline: str, comment: str
) -> None:
    whole = _stream(chunks, newline, comment)
    edges = [0, *sorted(int(cut * len(whole)) for cut in cuts), len(whole)]
    pieces = [whole[a:b] for a, b in itertools.pairwise(edges)]
    found, slow = _read(pieces, quick=True), _read([whole], quick=False)

    assert [arrival.tokens for arrival in found.arrivals] == [n for _, n in chunks if n]
    assert (found.arrivals, found.error) == (slow.arrivals, slow.error)
