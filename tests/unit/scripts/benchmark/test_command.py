"""`python -m scripts.benchmark` as an operator runs it."""

from __future__ import annotations

import json
import os
import signal
import threading
from typing import TYPE_CHECKING

import pytest

from bundle.errors import run_command
from scripts.benchmark.__main__ import main
from tests.fixtures.known_server import Profile, serve

if TYPE_CHECKING:
    from pathlib import Path

SMALL = ["--input-len", "16", "--output-len", "4", "--request-rate", "inf"]


def _run(profile: Profile, out: Path, *words: str) -> int:
    with serve(profile) as known:
        environ = {"BUNDLE_MODEL": profile.model, "BUNDLE_SERVER_URL": known.url}
        words = (*SMALL, "--num-prompts", "6", "--out", str(out), *words)
        return run_command(lambda: main(words, environ))


def test_the_result_is_shown_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _run(Profile(), tmp_path)
    result = json.loads((tmp_path / "benchmark.json").read_text())

    assert result["metrics"]["completed"] == 6
    assert result["asked"]["request_rate"] is None
    assert "successful / failed requests" in capsys.readouterr().out


def test_an_invalid_run_is_exit_1(tmp_path: Path) -> None:
    assert _run(Profile(fault="cached"), tmp_path) == 1


def test_ctrl_c_is_exit_2_with_a_result_that_says_it_is_partial(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command is interrupted while requests are under way."""
    timer = threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    code = _run(Profile(), tmp_path, "--concurrency", "2", "--min-seconds", "30")
    result = json.loads((tmp_path / "benchmark.json").read_text())

    assert code == 2
    assert result["completed"] > 0
    assert "stopped by Ctrl-C" in capsys.readouterr().out


def test_chats_are_sent_as_chats(tmp_path: Path) -> None:
    chats = tmp_path / "chats.jsonl"
    chats.write_text('{"messages": [{"role": "user", "content": "Hello"}]}\n')
    _run(Profile(), tmp_path, "--dataset", str(chats))
    result = json.loads((tmp_path / "benchmark.json").read_text())

    assert (result["backend"], result["completed"]) == ("openai-chat", 6)


@pytest.mark.parametrize(
    "words",
    [
        ["--input-len", "0"],
        ["--request-rate", "-1"],
        ["--request-rate", "x"],
        ["--input-len-range", "1"],
        ["--warm-ups", "-1"],
        ["--min-seconds", "5"],
        ["--min-seconds", "inf", "--concurrency", "2"],
        ["--min-seconds", "1e6", "--request-rate", "2"],
        ["--request-rate", "5e-324"],
        ["--request-rate", "nan"],
        ["--concurrency", "7"],
        ["--output-len", "9" * 400],
        ["--input-len", "9" * 5000],
        ["--against", ""],
        ["--against", "host:8000"],
        ["--sweep", ""],
        ["--sweep", "1,0"],
        ["--dataset", "none.jsonl"],
        ["--dataset", "none.jsonl", "--turns", "2"],
        ["y"],
    ],
)
def test_wrong_options_are_exit_64(words: list[str], tmp_path: Path) -> None:
    assert _run(Profile(), tmp_path, *words) == 64
