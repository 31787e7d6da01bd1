"""The hand-over to the engine's Python; torch is not in the tests' own."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from bundle import manifest
from bundle.errors import CouldNotRun
from scripts.parity.__main__ import main

if TYPE_CHECKING:
    from pathlib import Path


def engine(folder: Path, ends: str) -> dict[str, str]:
    """Name a Python that has every module, and that does `ends` when it is run."""
    script = folder / "python"
    script.write_text(f'#!/bin/sh\n[ "$1" = -c ] && exit 0\n{ends}\n')
    script.chmod(0o755)
    return {"BUNDLE_ENGINE_PYTHON": str(script)}


def test_a_python_without_torch_is_not_handed_over_to_for_ever() -> None:
    with pytest.raises(CouldNotRun, match=r"neither .* has torch"):
        main([], {"BUNDLE_ENGINE_PYTHON": sys.executable})


@pytest.mark.parametrize("code", [0, 1, 2])
def test_the_exit_code_is_the_engines(tmp_path: Path, code: int) -> None:
    assert main([], engine(tmp_path, f"exit {code}")) == code


def test_a_killed_comparison_could_not_be_made(tmp_path: Path) -> None:
    with pytest.raises(CouldNotRun, match="ended by signal 9"):
        main([], engine(tmp_path, "kill -9 $$"))


def test_no_engine_at_all_is_named() -> None:
    with pytest.raises(CouldNotRun, match="'/nonexistent' cannot be started"):
        main([], {"BUNDLE_ENGINE_PYTHON": "/nonexistent"})


def test_bytes_that_are_not_the_manifests_are_refused(tmp_path: Path) -> None:
    """In bf16 a swapped row is within rounding; see docs/parity.md."""
    (tmp_path / "model.safetensors").write_bytes(b"good")
    manifest.write(tmp_path, {"id": "made"})
    words = ["--weights", str(tmp_path), "--golden", str(tmp_path / "none.npz")]
    words += ["--server", "http://127.0.0.1:1", "--out", str(tmp_path / "out")]
    with pytest.raises(CouldNotRun, match=r"none\.npz cannot be read"):
        main(words, {})

    (tmp_path / "model.safetensors").write_bytes(b"baad")

    with pytest.raises(CouldNotRun, match=r"model\.safetensors"):
        main(words, {})
