"""What a server may say that is no answer: a failed request, and never a traceback."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from scripts.benchmark import counters, request, table
from scripts.benchmark.record import record
from scripts.benchmark.request import Ask
from scripts.benchmark.stream import DONE, Stream
from scripts.output import write

if TYPE_CHECKING:
    from pathlib import Path

    from scripts.benchmark.outcome import Outcome

ASK = Ask("m", (1, 2), 2, "")
CHAT = Ask("m", ({"role": "user", "content": "x"},), 2, "", hold=False)
LIES: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text()
)
LIES = LIES | st.lists(LIES, max_size=2) | st.dictionaries(st.text(), LIES, max_size=2)


def _answer(ask: Ask = ASK, **changes: Any) -> Outcome:  # noqa: ANN401 - any JSON at all
    """Read a right answer of two tokens, but for `changes`."""
    usage: Any = {"prompt_tokens": 2, "completion_tokens": 2}
    choice = {"text": "ab", "finish_reason": "length", "token_ids": [7, 8]}
    choice |= {k: v for k, v in changes.items() if k in choice}
    usage |= {k: v for k, v in changes.items() if k not in {*choice, "usage"}}
    stream = Stream(ask)
    event = {"choices": [choice], "usage": changes.get("usage", usage)}
    stream.add(json.dumps(event).encode(), 1.0)
    stream.add(DONE, 1.0)
    return stream.outcome(0.0, 0.0)


def test_the_right_answer_is_one() -> None:
    assert _answer().error == _answer(CHAT).error == ""


@pytest.mark.parametrize(
    "lie",
    [
        {"usage": [1]},
        {"prompt_tokens_details": "none"},
        {"prompt_tokens_details": {"cached_tokens": -1}},
        {"prompt_tokens_details": {"cached_tokens": "0"}},
        {"prompt_tokens_details": {"cached_tokens": 3}},
        {"prompt_tokens": -2},
        {"prompt_tokens": 2.5},
        {"prompt_tokens": float("nan")},
        {"prompt_tokens": 10**400},
        {"completion_tokens": True},
        {"completion_tokens": "2"},
        {"finish_reason": {"why": "length"}},
        {"token_ids": "ab"},
        {"token_ids": None, "completion_tokens": None},
    ],
)
def test_what_is_no_count_is_no_success(lie: dict[str, Any]) -> None:
    assert _answer(**lie).error.startswith("an event is no completion chunk")


def test_more_tokens_than_were_asked_for_are_no_success() -> None:
    outcome = _answer(CHAT, token_ids=[1, 2, 3], completion_tokens=3)

    assert outcome.error == "asked for at most 2 tokens, got 3"


def test_text_of_no_token_is_no_success() -> None:
    stream = Stream(CHAT)
    choice = {"delta": {"content": "x"}, "finish_reason": "stop"}
    stream.add(json.dumps({"choices": [choice]}).encode(), 1.0)
    usage = {"prompt_tokens": 2, "completion_tokens": 0}
    stream.add(json.dumps({"choices": [], "usage": usage}).encode(), 1.0)
    stream.add(DONE, 1.0)

    assert stream.outcome(0.0, 0.0).error.startswith("usage says 0 tokens")


def test_an_event_that_is_nested_without_end_is_no_chunk() -> None:
    stream = Stream(ASK)
    stream.add(b"[" * 200_000, 1.0)

    assert stream.outcome(0.0, 0.0).error.startswith("an event is no completion chunk")


@given(
    st.sampled_from(
        [
            *("usage", "prompt_tokens", "completion_tokens", "prompt_tokens_details"),
            *("finish_reason", "token_ids", "text"),
        ]
    ),
    LIES,
    st.sampled_from([ASK, CHAT]),
)
def test_any_lie_makes_a_record(name: str, lie: object, ask: Ask) -> None:
    outcome = _answer(ask, **{name: lie})

    assert record(outcome, 0.0).error == outcome.error
    assert outcome.error or 0 <= outcome.tokens <= ask.output_len


class Liar:
    """Gives `body` with `status` to every request."""

    def __init__(self, status: int, body: bytes) -> None:
        """Hold what is said."""
        self.application = web.Application()
        self.application.router.add_route("*", "/{any:.*}", self._answer)
        self._status, self._body = status, body

    async def _answer(self, _request: web.Request) -> web.Response:
        return web.Response(status=self._status, body=self._body)


async def _ask(liar: Liar) -> tuple[Outcome, counters.Counters]:
    runner = web.AppRunner(liar.application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = "http://{}:{}".format(*runner.addresses[0][:2])
    async with aiohttp.ClientSession() as session:
        found = await request.send(session, url, ASK, 0.0)
        counted = await counters.read(session, url)
    await runner.cleanup()
    return found, counted


def test_words_in_another_encoding_are_shown_as_well_as_can_be() -> None:
    outcome, _ = asyncio.run(_ask(Liar(500, b"Fehler: \xe4" + b"x" * 10_000)))

    assert outcome.error.startswith("HTTP 500: Fehler: \N{REPLACEMENT CHARACTER}xx")
    assert len(outcome.error) < 600


def test_an_answer_without_end_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request, "MOST_BYTES", 1 << 20)
    outcome, _ = asyncio.run(_ask(Liar(200, b"x" * (2 << 20))))

    assert outcome.error == "the answer is longer than 1 MiB"


def test_what_a_server_says_is_shown_and_kept_whatever_it_is(tmp_path: Path) -> None:
    said = "\ud800 \x1b[31mred\nend"
    kept = write(tmp_path / "x.json", json.dumps({"error": said}, ensure_ascii=False))

    assert json.loads(kept.read_text(encoding="utf-8")) == {"error": said}
    assert table.lines([("x", said)]) == r"  x  \ud800 \x1b[31mred\nend"


@pytest.mark.parametrize("page", [b"\xe4\xff", b"vllm:request_success_total NaN\n"])
def test_a_page_of_metrics_that_says_nothing_tells_nothing(page: bytes) -> None:
    _, counted = asyncio.run(_ask(Liar(200, page)))

    assert counted == counters.NOTHING
