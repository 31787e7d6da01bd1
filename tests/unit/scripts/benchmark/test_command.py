"""`python -m scripts.benchmark` as an operator runs it."""

from __future__ import annotations

import json
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


@pytest.mark.parametrize(
    "words",
    [["--input-len", "0"], ["--request-rate", "-1"], ["--request-rate", "x"], ["y"]],
)
def test_wrong_options_are_exit_64(words: list[str], tmp_path: Path) -> None:
    assert _run(Profile(), tmp_path, *words) == 64
