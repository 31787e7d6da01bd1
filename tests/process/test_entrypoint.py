"""The real entrypoint and the real supervisord, with an engine that is a stand-in."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.fixtures.engines import DIES, HANGS, engine
from tests.fixtures.weights import demo_weights

ROOT = Path(__file__).parents[2]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Give the environment of a start that passes all checks."""
    demo_weights(tmp_path / "models")
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "BUNDLE_MODEL": "smollm2-135m-instruct",
        "BUNDLE_DEVICE": "cpu",
        "BUNDLE_WEIGHTS_DIR": str(tmp_path / "models"),
        "BUNDLE_RUN_DIR": str(tmp_path / "run"),
        "BUNDLE_LISTEN_ADDRESS": "127.0.0.1",
    }


def entrypoint(environ: dict[str, str], *words: str) -> subprocess.Popen[str]:
    """Start the entrypoint; its output is one text."""
    return subprocess.Popen(
        [sys.executable, "-m", "entrypoint", *words],
        cwd=ROOT,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def wait_for(process: subprocess.Popen[str], text: str) -> None:
    """Read the output until a line has `text`."""
    assert process.stdout is not None
    for line in process.stdout:
        if text in line:
            return
    pytest.fail(f"the entrypoint ended without printing {text!r}")


def test_check_prints_the_command_line_and_starts_nothing(
    environ: dict[str, str], tmp_path: Path
) -> None:
    environ["BUNDLE_ENGINE_PYTHON"] = str(engine(tmp_path, DIES))

    process = entrypoint(environ, "--check")

    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    assert "--served-model-name smollm2-135m-instruct" in output
    assert not (tmp_path / "run/supervisord.pid").exists()


def test_any_other_command_passes_through() -> None:
    process = entrypoint({"PATH": os.environ["PATH"]}, "echo", "--check", "a b")

    assert process.communicate(timeout=60)[0] == "--check a b\n"
    assert process.returncode == 0


@pytest.mark.parametrize("words", [["--verbose"], ["no-such-command"]])
def test_a_wrong_command_line_exits_64(environ: dict[str, str], words: list[str]) -> None:
    process = entrypoint(environ, *words)

    output, _ = process.communicate(timeout=60)
    assert process.returncode == 64
    assert "Traceback" not in output


def test_bad_settings_exit_78_with_all_of_them(environ: dict[str, str]) -> None:
    process = entrypoint({**environ, "BUNDLE_DEVICE": "gpu", "BUNDLE_NOPE": "1"})

    output, _ = process.communicate(timeout=60)
    assert process.returncode == 78
    assert output.count("error: ") == 2
    assert "Traceback" not in output


def test_a_host_that_is_not_ready_exits_69(
    environ: dict[str, str], tmp_path: Path
) -> None:
    environ |= {
        "BUNDLE_ENGINE_PYTHON": str(engine(tmp_path, DIES)),
        "BUNDLE_WEIGHTS_DIR": "/nonexistent",
    }

    process = entrypoint(environ)

    output, _ = process.communicate(timeout=60)
    assert process.returncode == 69
    assert "/nonexistent" in output


def test_an_engine_that_cannot_start_ends_the_container_with_a_failure(
    environ: dict[str, str], tmp_path: Path
) -> None:
    environ["BUNDLE_ENGINE_PYTHON"] = str(engine(tmp_path, DIES))

    process = entrypoint(environ)

    output, _ = process.communicate(timeout=120)
    assert process.returncode == 2, output
    assert output.count("error: unrecognized arguments") == 3
    assert "gave up: server" in output
    said = (
        "error: the engine died: the engine does not know a flag, or its value (bad-flag)"
    )
    assert output.count(said) == 3
    note = json.loads((tmp_path / "run/readings/death.json").read_text())
    assert note["deaths"] == {"bad-flag": 3}
    assert note["evidence"] == "unrecognized arguments: --no-such-flag"
    assert note["exit_code"] == 2


def test_an_engine_that_is_killed_is_told_with_its_signal(
    environ: dict[str, str], tmp_path: Path
) -> None:
    environ["BUNDLE_ENGINE_PYTHON"] = str(engine(tmp_path, HANGS))
    process = entrypoint(environ)
    wait_for(process, "loading")
    started = json.loads((tmp_path / "run/started.json").read_text())

    os.kill(started["pid"], signal.SIGKILL)

    wait_for(process, "something killed the engine")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    note = json.loads((tmp_path / "run/readings/death.json").read_text())
    assert (note["cause"], note["exit_code"]) == ("killed", -9)


def test_sigterm_stops_the_engine_and_exits_0(
    environ: dict[str, str], tmp_path: Path
) -> None:
    environ["BUNDLE_ENGINE_PYTHON"] = str(engine(tmp_path, HANGS))
    process = entrypoint(environ)
    wait_for(process, "loading")

    process.send_signal(signal.SIGTERM)

    started = time.monotonic()
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    assert time.monotonic() - started < 10
    assert "stopped: server (exit status 0)" in output
    assert "the engine died" not in output
    assert not (tmp_path / "run/readings/death.json").exists()
