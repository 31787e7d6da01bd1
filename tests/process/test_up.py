"""`make up` and `make down` in a copy of the repository, with a stand-in engine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.fixtures.engines import DIES, HANGS, engine
from tests.fixtures.hub import Hub, serving
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
        start_new_session=True,
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
    assert "more: docs/runbook.md#bad-flag" in output
    assert "Traceback" not in output
    # supervisord's lines and those of its children do not overwrite each other
    log = (clone / "var/log/server.log").read_text()
    assert log.index("\nExecuting: ") < log.index("exited: server")
    assert "\nerror: the engine died: " in log
    death = json.loads((clone / "var/run/readings/death.json").read_text())
    assert death["cause"] == "bad-flag"
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


def test_down_stops_prometheus_too(clone: Path, tmp_path: Path) -> None:
    if not shutil.which("prometheus"):
        pytest.skip("not installed: prometheus (Debian package)")
    python = str(engine(tmp_path, HANGS))
    process = run(clone, "scripts.up", BUNDLE_ENGINE_PYTHON=python)
    until(clone / "var/prometheus/prometheus.log", "ready to receive web requests")
    assert [words for words in left(clone) if words.startswith("prometheus ")]
    process.kill()
    process.communicate(timeout=60)

    down = run(clone, "scripts.down")
    down.communicate(timeout=60)

    assert down.returncode == 0
    assert left(clone) == []
    assert "See you next time!" in (clone / "var/prometheus/prometheus.log").read_text()


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


def test_ctrl_c_while_installing_is_a_sentence(clone: Path) -> None:
    (clone / ".venv").unlink()
    (clone / ".venv").mkdir()
    (clone / ".venv/tool").symlink_to(ROOT / ".venv/tool")
    with socket.create_server(("127.0.0.1", 0)) as hangs:  # an index that never answers
        index = f"http://127.0.0.1:{hangs.getsockname()[1]}/simple"
        process = run(clone, "scripts.up", UV_DEFAULT_INDEX=index, UV_NO_CACHE="1")
        connection, _ = hangs.accept()
        # a terminal sends it to every process in the foreground
        os.killpg(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=60)
        connection.close()

    assert process.returncode == 2, output
    assert "Traceback" not in output
    assert not (clone / ".venv/engine-cpu/made-from").exists()
    assert left(clone) == []


def test_ctrl_c_while_fetching_is_a_sentence_and_the_next_run_recovers(
    clone: Path, tmp_path: Path
) -> None:
    environ = {
        "BUNDLE_MODEL": "qwen-1_8b-chat",
        "BUNDLE_WEIGHTS_FORMAT": "original",
        "BUNDLE_ENGINE_PYTHON": str(engine(tmp_path, DIES)),
        "MODELSCOPE_DOWNLOAD_MAX_RETRIES": "0",
    }
    files = {"config.json": b"{}", "model.safetensors": bytes(100_000)}
    # as small as what the hub serves, so that any machine has the memory
    described = clone / "models/qwen-1_8b-chat/model.yaml"
    text = described.read_text().replace(
        "size_bytes: 3_673_700_000", "size_bytes: 100000"
    )
    described.write_text(text.replace("kv_cache_gib: 4", "kv_cache_gib: 1"))
    with serving(Hub(files, stalls=threading.Event())) as hub:
        environ["BUNDLE_MODELSCOPE_ENDPOINT"] = hub.url
        process = run(clone, "scripts.up", **environ)
        deadline = time.monotonic() + 60
        while not any("FilePath=model" in line for line in hub.asked):
            assert time.monotonic() < deadline, process.poll()
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        assert hub.stalls is not None
        hub.stalls.set()
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 2, output
        assert "Traceback" not in output
        assert "stopped by Ctrl-C" in output

        hub.stalls = None
        again, _ = run(clone, "scripts.up", **environ).communicate(timeout=60)

    assert "converting" not in again
    folder = clone / "var/models/qwen-1_8b-chat/original/Qwen-1_8B-Chat"
    assert (folder / "manifest.json").exists()


def test_a_read_only_folder_is_told(clone: Path, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("mounting a folder read-only needs root")
    mount = ["/usr/bin/mount", "--bind", "-o", "ro", str(clone), str(clone)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("this machine allows no mount")
    try:
        python = str(engine(tmp_path, DIES))
        process = run(clone, "scripts.up", BUNDLE_ENGINE_PYTHON=python)
        output, _ = process.communicate(timeout=60)
    finally:
        subprocess.run(["/usr/bin/umount", "-l", str(clone)], check=True)

    assert process.returncode == 2, output
    assert "cannot be made: Read-only file system" in output
    assert "Traceback" not in output
