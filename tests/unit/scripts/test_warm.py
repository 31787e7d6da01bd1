"""The warm-up starts a server, waits for its generation, and stops it."""

from __future__ import annotations

import pytest

from bundle.errors import CouldNotRun
from scripts.warm import main
from tests.fixtures.known_server import Profile, serve

STOPS_WELL = "trap 'exit 0' TERM; while true; do sleep 0.1; done"
STOPS_BADLY = "trap 'exit 7' TERM; while true; do sleep 0.1; done"


def warm(url: str, script: str) -> int:
    """Warm up `script`, which stands for the server at `url`."""
    environ = {"BUNDLE_MODEL": "smollm2-135m-instruct", "BUNDLE_SERVER_URL": url}
    return main(environ, ("sh", "-c", script))


def test_a_server_that_generates_is_stopped(capsys: pytest.CaptureFixture[str]) -> None:
    with serve(Profile(ttft=1)) as server:
        assert warm(server.url, STOPS_WELL) == 0

        assert len(server.chats) == 1
    assert "the compile cache is filled" in capsys.readouterr().out


def test_a_server_that_ends_badly_fails_the_build() -> None:
    with serve(Profile(ttft=1)) as server, pytest.raises(CouldNotRun, match="with 7"):
        warm(server.url, STOPS_BADLY)


def test_a_server_that_dies_is_told_at_once() -> None:
    with pytest.raises(CouldNotRun, match="the server ended with 3"):
        warm("http://127.0.0.1:9", "exit 3")
