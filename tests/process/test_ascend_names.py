"""Every NPU variable and `additional_config` key that we set is one that is read.

A misspelt name is no error on an NPU: it does nothing. So the pinned packages are
downloaded and their files searched as text; nothing of them is run.
"""

from __future__ import annotations

import json
import re
import subprocess
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bundle.model import load_model
from bundle.settings import load
from entrypoint.command import vllm_environ

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bundle.model import Model

ROOT = Path(__file__).parents[2]
MODELS = [
    load_model(ROOT / "models", p.parent.name) for p in ROOT.glob("models/*/*l.yaml")
]
# 0.23.0 is the newest with a wheel; 0.23.0.post1, which is deployed, is source only.
WHEELS = r"""
vllm-ascend==0.23.0 \
  --hash=sha256:4f0d25d3b6d8ae85753b53d4bd8d910418865baf413fa779b87012ad1a4a3f87
torch-npu==2.10.0.post4 \
  --hash=sha256:7d88428d9bb8473919a38947617fcc481cb6e28927a8aa30e486a9bc42f30d90
"""
GLIBC = [f"--platform=manylinux_2_{minor}_x86_64" for minor in (34, 28)]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Give every file of the two packages, one after the other."""
    folder = tmp_path_factory.mktemp("wheels")
    (folder / "wheels.txt").write_text(WHEELS)
    python = str(ROOT / ".venv/tool/bin/python")
    command = [python, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    options = ["--python-version=3.11", *GLIBC, f"--dest={folder}"]
    words = [*command, *options, "--requirement", str(folder / "wheels.txt")]
    subprocess.run(words, check=True, capture_output=True)
    return b"\n".join(_files(folder))


def _files(folder: Path) -> Iterator[bytes]:
    for wheel in folder.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            yield from (archive.read(name) for name in archive.namelist())


def variables(model: Model) -> set[str]:
    """Give the names that are set on an NPU and not on the CPU."""
    found = set()
    for environ in ({}, {"BUNDLE_PRESET": "reference"}):
        names = {f: set(vllm_environ(load(environ), model, f, {})) for f in model.serving}
        found |= set().union(*names.values()) - names["cpu"]
    return found


def config_keys(model: Model) -> set[str]:
    """Give every key, at every depth, of the `--additional-config` that is passed."""
    found = set()
    for serving in model.serving.values():
        words = iter(serving.args)
        for word in words:
            if word == "--additional-config":
                found |= set(_keys(json.loads(next(words))))
    return found


def _keys(value: dict[str, Any]) -> Iterator[str]:
    for key, inner in value.items():
        yield key
        if isinstance(inner, dict):
            yield from _keys(inner)


def test_every_name_is_read_by_the_plugin_or_by_torch_npu(sources: bytes) -> None:
    names = {name for model in MODELS for name in variables(model) | config_keys(model)}

    assert {"TASK_QUEUE_ENABLE", "ASCEND_RT_VISIBLE_DEVICES"} <= names
    assert [name for name in sorted(names) if not _has(sources, name)] == []


def test_a_misspelt_name_is_found(sources: bytes) -> None:
    assert _has(sources, "VLLM_ASCEND_ENABLE_NZ")
    assert not _has(sources, "VLLM_ASCEND_ENABLE_NZZ")
    assert not _has(sources, "ASK_QUEUE_ENABLE")


def _has(sources: bytes, name: str) -> bool:
    return re.search(rb"(?<!\w)%s(?!\w)" % name.encode(), sources) is not None
