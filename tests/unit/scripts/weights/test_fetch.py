"""The real ModelScope client against a stand-in hub, through the command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bundle import manifest
from tests.fixtures.hub import Hub, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[4]
FOLDER = "qwen-1_8b-chat/original/Qwen-1_8B-Chat"


@pytest.fixture
def hub() -> Iterator[Hub]:
    """Give a hub with two files."""
    with serving(Hub({"config.json": b"{}", "model.safetensors": bytes(200_000)})) as hub:
        yield hub


def environ(endpoint: str, weights: Path) -> dict[str, str]:
    """Give the environment of a fetch that does not wait long."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(weights.parent),
        "BUNDLE_MODEL": "qwen-1_8b-chat",
        "BUNDLE_WEIGHTS_FORMAT": "original",
        "BUNDLE_WEIGHTS_DIR": str(weights),
        "BUNDLE_MODELSCOPE_ENDPOINT": endpoint,
        "MODELSCOPE_DOWNLOAD_MAX_RETRIES": "0",
        "MODELSCOPE_DOWNLOAD_TIMEOUT": "1",
    }


def start(endpoint: str, weights: Path, **more: str) -> subprocess.Popen[str]:
    """Start a fetch."""
    return subprocess.Popen(
        [sys.executable, "-m", "scripts.weights", "fetch"],
        cwd=ROOT,
        env=environ(endpoint, weights) | more,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def fetch(endpoint: str, weights: Path) -> tuple[int, str]:
    """Fetch; give the exit code and what was printed."""
    process = start(endpoint, weights)
    output, _ = process.communicate(timeout=120)
    assert "Traceback" not in output
    return process.returncode, output


def test_a_fetch_is_complete_and_the_next_one_asks_nothing(
    hub: Hub, tmp_path: Path
) -> None:
    code, output = fetch(hub.url, tmp_path / "w")

    assert code == 0, output
    assert "NON-COMMERCIAL" in output
    assert manifest.check(tmp_path / "w" / FOLDER, hashes=True) == []

    hub.asked.clear()
    code, output = fetch(hub.url, tmp_path / "w")
    assert code == 0
    assert "weights are there" in output
    assert hub.asked == []


def test_a_broken_off_download_serves_nothing_and_is_resumed(
    hub: Hub, tmp_path: Path
) -> None:
    hub.breaks_off = True
    code, output = fetch(hub.url, tmp_path / "w")
    assert code == 2
    assert "run the same again, it goes on from here" in output
    assert not (tmp_path / "w" / FOLDER).exists()

    hub.breaks_off = False
    hub.asked.clear()
    code, output = fetch(hub.url, tmp_path / "w")
    assert code == 0, output
    assert any("bytes=100000-" in line for line in hub.asked)
    assert manifest.check(tmp_path / "w" / FOLDER, hashes=True) == []


def test_a_stalled_download_ends_with_a_sentence(hub: Hub, tmp_path: Path) -> None:
    hub.stalls = threading.Event()

    code, output = fetch(hub.url, tmp_path / "w")
    hub.stalls.set()

    assert code == 2
    assert f"could not be fetched from {hub.url}" in output


def test_a_wrong_file_is_refused(hub: Hub, tmp_path: Path) -> None:
    hub.files["config.json"] = b'{"a": 1}'
    hub.wrong = True

    code, output = fetch(hub.url, tmp_path / "w")

    assert code == 2
    assert "FileIntegrityError" in output
    assert not (tmp_path / "w" / FOLDER).exists()


def test_a_wrong_id_is_told_from_a_dead_network(tmp_path: Path) -> None:
    with serving(Hub({})) as empty:
        models = tmp_path / "models/qwen-1_8b-chat"
        models.mkdir(parents=True)
        text = (ROOT / "models/qwen-1_8b-chat/model.yaml").read_text()
        text = text.replace("id: qwen/Qwen-1_8B-Chat", "id: qwen/Qwen-1_8B-Chatt")
        (models / "model.yaml").write_text(text)
        done = subprocess.run(
            [sys.executable, "-m", "scripts.weights", "fetch"],
            cwd=ROOT,
            env={
                **environ(empty.url, tmp_path / "w"),
                "BUNDLE_MODELS_DIR": str(tmp_path / "models"),
            },
            capture_output=True,
            text=True,
            check=False,
        )

    assert done.returncode == 2
    assert "has no model qwen/Qwen-1_8B-Chatt with revision v1.0.0" in done.stderr


def test_no_network_names_the_endpoint_and_the_setting(tmp_path: Path) -> None:
    code, output = fetch("http://127.0.0.1:9", tmp_path / "w")

    assert code == 2
    assert "could not be fetched from http://127.0.0.1:9" in output
    assert "BUNDLE_MODELSCOPE_ENDPOINT" in output


def until_asked(hub: Hub, process: subprocess.Popen[str]) -> None:
    """Wait until a fetch is in the middle of the weights."""
    deadline = time.monotonic() + 60
    while not any("FilePath=model" in line for line in hub.asked):
        assert time.monotonic() < deadline, process.poll()
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_an_end_in_the_middle_serves_nothing_and_the_next_run_completes(
    number: signal.Signals, hub: Hub, tmp_path: Path
) -> None:
    hub.stalls = threading.Event()
    process = start(hub.url, tmp_path / "w")
    until_asked(hub, process)
    process.send_signal(number)
    output, _ = process.communicate(timeout=10)
    hub.stalls.set()
    assert process.returncode == (-9 if number == signal.SIGKILL else 2)
    assert ("stopped by" in output) == (number != signal.SIGKILL)
    assert not (tmp_path / "w" / FOLDER).exists()

    hub.stalls = None
    code, output = fetch(hub.url, tmp_path / "w")
    assert code == 0, output
    assert manifest.check(tmp_path / "w" / FOLDER, hashes=True) == []


def test_ctrl_c_ends_it_even_where_the_library_would_wait_for_ever(
    hub: Hub, tmp_path: Path
) -> None:
    taken = "import threading, tqdm\nlock = tqdm.tqdm.get_lock()\n"
    taken += "threading.Thread(target=lock.acquire).start()\n"
    (tmp_path / "sitecustomize.py").write_text(taken)
    process = start(hub.url, tmp_path / "w", PYTHONPATH=str(tmp_path))
    until_asked(hub, process)
    process.send_signal(signal.SIGINT)
    try:
        output, _ = process.communicate(timeout=10)
    finally:
        process.kill()

    assert process.returncode == 2
    assert "stopped by Ctrl-C; run it again, it goes on from here" in output


def test_a_full_disk_ends_with_a_sentence(hub: Hub, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(disk)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("this machine allows no mount")
    try:
        code, output = fetch(hub.url, disk / "w")
    finally:
        subprocess.run(["/usr/bin/umount", "-l", str(disk)], check=True)

    assert code == 2
    assert "the disk is full" in output


def test_a_folder_that_cannot_be_made_ends_with_a_sentence(
    hub: Hub, tmp_path: Path
) -> None:
    (tmp_path / "w").write_text("a file")

    code, output = fetch(hub.url, tmp_path / "w")

    assert code == 2
    assert "cannot be written" in output
