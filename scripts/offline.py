"""`python -m scripts.offline ARCHIVE`: all that a host without a network needs.

One tar file: every image of the compose stack, the files that Compose and Helm read,
checksums, and `load.sh`, which checks and loads them there.
"""

from __future__ import annotations

import platform
import re
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bundle import manifest
from bundle.errors import CouldNotRun, ExitCode, Problem, WrongUsage, run_command
from scripts import compose
from scripts.compose import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

LOAD = Path(__file__).with_name("load.sh")
NAME = "ascend-chat-bundle"
PROFILES = ("--profile", "smoke", "--profile", "gateway")
COPIED = (
    "*.md",
    "LICENSE",
    "compose*.yaml",
    ".env.example",
    "docs",
    "gateway",
    "monitoring",
    "chart",
)
# What belongs to this host only, secrets above all.
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.py", "api-key", "tls.*")


def main(words: Sequence[str], command: Sequence[str] = compose.COMMAND) -> int:
    """Write the archive, complete or not at all."""
    if len(words) != 1:
        remedy = "name the archive to write, as in var/offline.tar"
        raise WrongUsage(Problem(f"{' '.join(words) or 'nothing'} was given", remedy))
    archive = Path(words[0]).absolute()
    compose.check(command)
    images = _images(command)
    try:
        archive.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
            content = Path(folder) / NAME
            _copy(content, _output(*command, "config", "--environment"))
            _save(images, content / "images.tar")
            _write_sums(content)
            _pack(content, archive)
    except OSError as error:
        what = f"{archive} cannot be written: {error.strerror}"
        raise CouldNotRun(
            Problem(what, "free some disk, or name another path")
        ) from error
    print(f"written: {archive}, {archive.stat().st_size / 1e9:.2f} GB", flush=True)
    print(f"there: tar -xf {archive.name} && cd {NAME} && sh load.sh")
    return ExitCode.GOOD


def _images(command: Sequence[str]) -> list[str]:
    """Give the image of every service; all must be here, by a tag."""
    images = sorted(set(_output(*command, *PROFILES, "config", "--images").split()))
    if digests := [image for image in images if "@" in image]:
        what = f"{digests[0]} is named by its digest, which an archive does not keep"
        raise CouldNotRun(Problem(what, "give the image a tag and name that"))
    for image in images:
        _output("docker", "image", "inspect", image)
    return images


def _copy(target: Path, environment: str) -> None:
    """Copy what Compose and Helm read; names of images that were set stay set."""
    target.mkdir()
    for path in (found for pattern in COPIED for found in ROOT.glob(pattern)):
        if path.is_dir():
            shutil.copytree(path, target / path.name, ignore=LEFT_OUT)
        else:
            shutil.copy2(path, target)
    shutil.copy2(LOAD, target)
    names = re.findall(r"\$\{(\w+_IMAGE):", (ROOT / "compose.yaml").read_text())
    lines = [line for line in environment.splitlines() if line.split("=")[0] in names]
    (target / ".env").write_text("".join(f"{line}\n" for line in sorted(lines)))
    (target / "architecture").write_text(f"{platform.machine()}\n")


def _save(images: Sequence[str], path: Path) -> None:
    print("saving", *images, sep="\n  ", flush=True)
    _output("docker", "image", "save", "--output", str(path), *images)


def _write_sums(folder: Path) -> None:
    """Write what `sha256sum --check` reads."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    sums = [f"{manifest.sha256(path)}  {path.relative_to(folder)}\n" for path in files]
    (folder / "SHA256SUMS").write_text("".join(sums))


def _pack(folder: Path, archive: Path) -> None:
    partial = archive.with_name(f".{archive.name}.partial")
    try:
        with tarfile.open(partial, "w") as tar:
            tar.add(folder, folder.name)
        partial.replace(archive)
    finally:
        partial.unlink(missing_ok=True)


def _output(*command: str) -> str:
    remedy = "build or pull what is missing (`make image`, `docker compose pull`)"
    return compose.output(*command, remedy=remedy)


if __name__ == "__main__":
    sys.exit(run_command(lambda: main(sys.argv[1:])))
