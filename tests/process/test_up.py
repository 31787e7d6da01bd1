"""`make up` and `make down` in a copy of the repository, with a stand-in engine."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.fixtures.engines import DIES, HANGS, engine
from tests.fixtures.weights import demo_weights

ROOT = Path(__file__).parents[2]
COPIED = ("bundle", "entrypoint", "monitoring", "scripts", "models", "requirements")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Give a copy of the repository with its environments and made weights."""
    copy = tmp_path / "clone"
    for name in COPIED:
        shutil.copytree(ROOT / name, copy / name)
    (copy / ".venv").symlink_to(ROOT / ".venv")
    demo_weights(copy / "var/models")
    return copy


def run(clone: Path, module: str, **environ: str) -> subprocess.Popen[str]:
    """Start a command in the copy."""
    return subprocess.Popen(
        [sys.executable, "-m", module],
        cwd=clone,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(clone),
            "BUNDLE_DEVICE": "cpu",
            **environ,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def left(clone: Path) -> list[str]:
    """Give the command lines of processes that still work in the copy."""
    found = []
    for cwd in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):  # it may end while we look
            if cwd.resolve().is_relative_to(clone):
                found.append((cwd.parent / "cmdline").read_text().replace("\0", " "))
    return found


def until(path: Path, text: str) -> None:
    """Wait until a file has `text`."""
    deadline = time.monotonic() + 60
    while not (path.exists() and text in path.read_text()):
        assert time.monotonic() < deadline, f"{path} has no {text!r}"
        time.sleep(0.1)


def test_a_dead_engine_is_told_at_once_with_its_cause(
    clone: Path, tmp_path: Path
) -> None:
    process = run(clone, "scripts.up", BUNDLE_ENGINE_PYTHON=str(engine(tmp_path, DIES)))

    output, _ = process.communicate(timeout=60)

    assert process.returncode == 2, output
    assert "error: the engine died after" in output
    assert "fix: correct BUNDLE_EXTRA_ARGS" in output
    assert "Traceback" not in output
    assert left(clone) == []


def test_a_taken_port_is_refused_with_69(clone: Path, tmp_path: Path) -> None:
    python = str(engine(tmp_path, DIES))
    with socket.create_server(("127.0.0.1", 8000)):
        process = run(clone, "scripts.up", BUNDLE_ENGINE_PYTHON=python)
        output, _ = process.communicate(timeout=60)

    assert process.returncode == 69, output
    assert "error: port 8000 on 127.0.0.1: another process listens there" in output


def test_two_at_once_leave_one_and_ctrl_c_leaves_none(
    clone: Path, tmp_path: Path
) -> None:
    python = str(engine(tmp_path, HANGS))
    first = run(clone, "scripts.up", BUNDLE_ENGINE_PYTHON=python)
    until(clone / "var/log/server.log", "loading")

    second = run(clone, "scripts.up", BUNDLE_ENGINE_PYTHON=python)
    output, _ = second.communicate(timeout=60)
    assert second.returncode == 2
    assert f"another `make up` is at work here (process {first.pid})" in output

    first.send_signal(signal.SIGINT)
    output, _ = first.communicate(timeout=60)
    assert first.returncode == 2
    assert "stopped by Ctrl-C" in output
    assert "Traceback" not in output
    assert left(clone) == []


def test_down_stops_what_a_killed_up_left(clone: Path, tmp_path: Path) -> None:
    python = str(engine(tmp_path, HANGS))
    process = run(clone, "scripts.up", BUNDLE_ENGINE_PYTHON=python)
    until(clone / "var/log/server.log", "loading")
    process.kill()
    process.communicate(timeout=60)
    assert left(clone) != []

    down = run(clone, "scripts.down")
    output, _ = down.communicate(timeout=60)

    assert down.returncode == 0, output
    assert left(clone) == []


def test_down_after_sigkill_of_supervisord_leaves_nothing(
    clone: Path, tmp_path: Path
) -> None:
    python = str(engine(tmp_path, HANGS))
    process = run(clone, "scripts.up", BUNDLE_ENGINE_PYTHON=python)
    until(clone / "var/log/server.log", "loading")
    process.kill()
    process.communicate(timeout=60)
    os.kill(int((clone / "var/run/supervisord.pid").read_text()), signal.SIGKILL)

    down = run(clone, "scripts.down")
    down.communicate(timeout=90)

    assert down.returncode == 0
    assert left(clone) == []


def test_down_with_nothing_running_is_good(clone: Path) -> None:
    down = run(clone, "scripts.down")

    assert down.communicate(timeout=60)[0] == "nothing is running\n"
    assert down.returncode == 0


def test_an_npu_host_is_told_what_is_missing(clone: Path) -> None:
    if Path("/dev/davinci_manager").exists():
        pytest.skip("this host has an NPU")
    code = "from scripts.up.__main__ import ascend_host as a; from bundle.errors import"
    command = [sys.executable, "-c", f"{code} run_command as r; raise SystemExit(r(a))"]

    done = subprocess.run(command, cwd=clone, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert "compose.yaml, which is not there yet" in done.stderr
