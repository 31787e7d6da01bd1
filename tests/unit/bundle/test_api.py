"""The client of an OpenAI-compatible server: right answers, and all other kinds."""

from __future__ import annotations

import http.server
import threading
from typing import TYPE_CHECKING

import pytest

from bundle.api import Server, ServerError
from tests.fixtures.known_server import Profile, serve

if TYPE_CHECKING:
    from collections.abc import Iterator

ANSWERS = ["<html>hi</html>", "{}", "[]", '{"data": 1, "choices": []}', "null"]


@pytest.fixture(params=ANSWERS)
def stranger(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A web server that gives each request the same answer, and no OpenAI one."""
    answer = request.param.encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"] or 0))
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_POST = do_GET  # noqa: N815 - the library's name

        def log_message(self, *_args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Server(f"http://127.0.0.1:{server.server_port}")
        server.shutdown()


def test_a_stranger_is_a_server_error_not_a_traceback(stranger: Server) -> None:
    with pytest.raises(ServerError, match="gives no OpenAI answer"):
        stranger.served_models()
    with pytest.raises(ServerError, match="gives no OpenAI answer"):
        stranger.chat("m", [])
    assert stranger.version() is None


def test_a_right_answer_comes_with_its_counts() -> None:
    with serve(Profile(answers={"hi": "Hello you."})) as known:
        server = Server(known.url)
        reply = server.chat("m", [{"role": "user", "content": "hi"}], temperature=0)

        assert server.served_models() == [Profile().model]
        assert server.version() == "0.23.0"
        assert server.healthy()
    assert (reply.text, reply.finish_reason, reply.completion_tokens) == (
        "Hello you.",
        "stop",
        2,
    )


def test_nobody_at_the_address_is_said_so() -> None:
    with serve(Profile()) as known:
        pass

    with pytest.raises(ServerError, match="does not answer"):
        Server(known.url).served_models()
    assert not Server(known.url).healthy()
