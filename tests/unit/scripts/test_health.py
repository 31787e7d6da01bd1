"""Health: ready means a generation since this start, not only a 200."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bundle.errors import CheckFailed
from bundle.settings import STARTED, Settings, load
from scripts import health
from tests.fixtures.known_server import Profile, serve

if TYPE_CHECKING:
    from pathlib import Path


def settings(url: str, run_dir: Path) -> Settings:
    """Give the settings of a probe."""
    return load(
        {
            "BUNDLE_MODEL": "smollm2-135m-instruct",
            "BUNDLE_SERVER_URL": url,
            "BUNDLE_RUN_DIR": str(run_dir),
        }
    )


def started(run_dir: Path, pid: int) -> None:
    """Write what the entrypoint writes at a start."""
    (run_dir / STARTED).write_text(f'{{"pid": {pid}}}')


def test_ready_generates_once_per_start(tmp_path: Path) -> None:
    with serve(Profile()) as server:
        started(tmp_path, 1)
        for _ in range(3):
            health.ready(settings(server.url, tmp_path))
        assert len(server.chats) == 1

        started(tmp_path, 2)
        health.ready(settings(server.url, tmp_path))
        assert len(server.chats) == 2


def test_the_generation_asks_for_two_tokens(tmp_path: Path) -> None:
    # one token would be counted as a TPOT of 0 by vLLM
    with serve(Profile()) as server:
        health.startup(settings(server.url, tmp_path))

        assert server.chats[0]["max_tokens"] == 2


def test_a_server_that_cannot_generate_is_live_but_not_ready(tmp_path: Path) -> None:
    with serve(Profile(chat_status=500)) as server:
        started(tmp_path, 1)
        health.live(settings(server.url, tmp_path))

        with pytest.raises(CheckFailed, match="answered 500"):
            health.ready(settings(server.url, tmp_path))

    assert not (tmp_path / health.GENERATED).exists()


def test_a_dead_server_is_not_ready_although_it_once_was(tmp_path: Path) -> None:
    started(tmp_path, 1)
    with serve(Profile()) as server:
        health.ready(settings(server.url, tmp_path))

    with pytest.raises(CheckFailed, match="does not say 200"):
        health.ready(settings(server.url, tmp_path))


def test_a_broken_note_is_no_note(tmp_path: Path) -> None:
    (tmp_path / STARTED).write_text("{")
    (tmp_path / health.GENERATED).write_text("{")

    with serve(Profile()) as server:
        health.ready(settings(server.url, tmp_path))

        assert len(server.chats) == 1
