"""A real conversion as a process: killed at any moment, and within its memory."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bundle import manifest
from scripts.weights.qwen1 import expected_shapes
from scripts.weights.qwen1_config import network
from scripts.weights.safetensors import Tensor, encode
from tests.fixtures.engine import ENGINE
from tests.fixtures.qwen1 import Small, make

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
LARGE = Small(hidden=2048, heads=16, layers=8)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a checkpoint of 840 MB, most of it a hole in the file."""
    folder = make(tmp_path_factory.mktemp("large") / "source", Small(ranks=1000))
    (folder / "config.json").write_text(json.dumps(LARGE.config))
    tensors, position = [], 0
    for name, shape in expected_shapes(network(LARGE.config)).items():
        size = 2 * shape[0] * (shape[1] if len(shape) > 1 else 1)
        tensors.append(Tensor(name, "BF16", shape, position, position + size))
        position += size
    head = encode(tensors, {})
    with (folder / "model.safetensors").open("wb") as file:
        file.write(head)
        file.truncate(len(head) + position)
    return folder


@pytest.fixture
def python(tmp_path: Path) -> str:
    """Give a program that writes tokenizer.json at once."""
    path = tmp_path / "engine-python"
    path.write_text('#!/bin/sh\necho "{}" > "$4/tokenizer.json"\n')
    path.chmod(0o755)
    return str(path)


def start(
    source: Path, target: Path, python: str, limit: Callable[[], None] | None = None
) -> subprocess.Popen[str]:
    """Start `python -m scripts.weights convert`."""
    return subprocess.Popen(
        [sys.executable, "-m", "scripts.weights", "convert", source, target],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "BUNDLE_ENGINE_PYTHON": python},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=limit,  # noqa: PLW1509 - no threads here; sets a limit
    )


@pytest.mark.parametrize("old", [False, True])
def test_a_kill_at_any_moment_leaves_the_old_state_or_the_new(
    large: Path, tmp_path: Path, python: str, *, old: bool
) -> None:
    target = tmp_path / "native"
    if old:
        target.mkdir()
        (target / "old").write_text("old")
    whole = _until_complete(large, tmp_path / "timed", python)

    seen = set()
    for part in range(1, 9):
        process = start(large, target, python)
        time.sleep(whole * part / 8)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        seen.add(_state(target))

    assert seen <= {"old" if old else "absent", "new"}
    assert "old" in seen or "absent" in seen
    _until_complete(large, target, python)
    assert _state(target) == "new"
    assert sorted(path.name for path in tmp_path.glob(".native*")) == []


def test_memory_stays_small_however_large_the_model_is(
    large: Path, tmp_path: Path, python: str
) -> None:
    def limit() -> None:
        # Of data, stacks included; what is only mapped from libraries does not count.
        resource.setrlimit(resource.RLIMIT_DATA, (256 << 20, 256 << 20))

    process = start(large, tmp_path / "native", python, limit)

    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output


def test_a_full_disk_is_told_and_leaves_nothing(
    large: Path, tmp_path: Path, python: str
) -> None:
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100 << 20, 100 << 20))

    process = start(large, tmp_path / "native", python, limit)

    output, _ = process.communicate(timeout=120)
    assert process.returncode == 2, output
    assert "cannot be converted: File too large" in output
    assert "Traceback" not in output
    assert [path.name for path in tmp_path.iterdir()] == ["engine-python"]


@pytest.mark.skipif(not ENGINE.exists(), reason=f"no engine: {ENGINE} is not there")
def test_the_command_converts_and_verifies(tmp_path: Path) -> None:
    source, target = make(tmp_path / "source"), tmp_path / "native"

    process = start(source, target, str(ENGINE))

    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    assert "context: 8192 tokens" in output
    assert manifest.check(target, hashes=True) == []


@pytest.mark.skipif(not ENGINE.exists(), reason=f"no engine: {ENGINE} is not there")
def test_a_python_without_tokenizers_is_told_in_one_line(tmp_path: Path) -> None:
    process = start(make(tmp_path / "source"), tmp_path / "native", sys.executable)

    output, _ = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "No module named 'transformers'" in output
    assert "Traceback" not in output
    assert not (tmp_path / "native").exists()


def _until_complete(source: Path, target: Path, python: str) -> float:
    started = time.monotonic()
    process = start(source, target, python)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    return time.monotonic() - started


def _state(target: Path) -> str:
    if not target.exists():
        return "absent"
    if [path.name for path in target.iterdir()] == ["old"]:
        return "old"
    return "new" if manifest.check(target, hashes=True) == [] else "broken"
