"""The engine's packages, as its Python would import them."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from bundle.checks.packages import packages
from bundle.command import ask

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_first_of_two_is_the_one_that_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, version in (("a", "2.10.0"), ("b", "2.11.0")):
        info = tmp_path / folder / f"torch-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Name: torch\nVersion: {version}\n")
    (tmp_path / "a/vllm-1.dist-info").mkdir()
    (tmp_path / "a/vllm-1.dist-info/METADATA").write_text("Name: vllm\n")
    path = [str(tmp_path / "a"), str(tmp_path / "b")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))

    found = packages(ask, sys.executable)

    assert isinstance(found, dict)
    assert (found["torch"], found["vllm"]) == ("2.10.0", "None")
