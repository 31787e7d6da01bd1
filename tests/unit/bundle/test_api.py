"""The client of an OpenAI-compatible server: right answers, and all other kinds."""

from __future__ import annotations

import contextlib
import http.server
import itertools
import socket
import threading
import time
from typing import TYPE_CHECKING

import pytest
from pydantic import SecretStr

from bundle.api import Server, ServerError
from tests.fixtures.known_server import Profile, serve

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ANSWERS = [
    "<html>hi</html>",
    "{}",
    "[]",
    '{"data": 1, "choices": []}',
    "null",
    "[" * 99999,
]
# Of the right form, and with values of other types.
ANSWERS += [
    '{"data": [{"id": 1}], "version": [], "choices": [{"message": {"content": 1}}]}'
]


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


@contextlib.contextmanager
def speaking(words: Iterable[bytes], pause: float = 0) -> Iterator[Server]:
    """Answer one request with these words, without an end where they have none."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=_speak, args=(listening, words, pause))
        thread.start()
        yield Server(f"http://127.0.0.1:{listening.getsockname()[1]}", timeout=1)
        thread.join()


def _speak(listening: socket.socket, words: Iterable[bytes], pause: float) -> None:
    with listening.accept()[0] as connection, contextlib.suppress(OSError):
        connection.recv(9999)
        for word in words:
            connection.sendall(word)
            time.sleep(pause)


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 404 No\r\n\r\n"])
def test_an_answer_without_an_end_is_left(head: bytes) -> None:
    endless = itertools.chain([head], itertools.repeat(b"x" * 65536))

    too_large = pytest.raises(ServerError, match="sends more than 64 MiB")
    with speaking(endless) as server, too_large:
        server.metrics()


def test_an_answer_that_drips_is_left_after_the_timeout() -> None:
    words = itertools.chain([b"HTTP/1.1 200 OK\r\n\r\n"], itertools.repeat(b"x"))

    with speaking(words, 0.1) as server:
        started = time.monotonic()
        with pytest.raises(ServerError, match="timed out"):
            server.version() or server.metrics()
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    "words",
    [
        [b"SSH-2.0-OpenSSH_9.2\r\n"],
        [b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nshort"],
        [b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nnot gzip"],
        [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"],
        [b"HTTP/1.1 302 Go\r\nLocation: http://a..b/\r\nContent-Length: 0\r\n\r\n"],
        [b"HTTP/1.1 302 Go\r\nLocation: http://[::1\r\nContent-Length: 0\r\n\r\n"],
        [],
    ],
)
def test_broken_http_is_no_answer(words: list[bytes]) -> None:
    no_answer = pytest.raises(ServerError, match="does not answer")
    with speaking(words) as server, no_answer:
        server.metrics()


@pytest.mark.parametrize("url", ["http://a..b", "http://[::1", "ftp://x", "http://", "x"])
def test_an_address_that_is_none_is_an_error_of_every_method(url: str) -> None:
    """Settings refuse it, and who makes a `Server` otherwise gets no traceback."""
    server = Server(url)

    assert not server.healthy()
    assert server.version() is None
    for ask in (server.metrics, server.served_models, lambda: server.chat("m", [])):
        with pytest.raises(ServerError, match="does not answer"):
            ask()


def test_a_key_that_no_header_takes_is_an_error() -> None:
    with pytest.raises(ServerError, match="does not answer") as caught:
        Server("http://127.0.0.1:1", SecretStr("\u5bc6\n")).metrics()

    assert "\u5bc6" not in str(caught.value)


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
