"""Make a virtual environment from a lock file: `python3 -m scripts.install NAME`.

Standard library only, since it runs before anything is installed. uv does the work; it
is fetched first, into an environment of its own.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bundle import toolchain
from bundle.errors import (
    CouldNotRun,
    ExitCode,
    HostNotReady,
    Problem,
    WrongUsage,
    raise_all,
    run_command,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ((3, 10), (3, 12))  # vllm-ascend 0.23.0 has wheels for these


@dataclass(frozen=True)
class Environment:
    """An environment under `.venv`: its purpose, and MB fetched and on disk."""

    purpose: str
    fetched_mb: int
    disk_mb: int


# On x86_64 with Python 3.11: the sum of the lock's wheels, and `du -sm .venv/NAME`.
ENVIRONMENTS = {
    "tool": Environment("the installer uv", 18, 64),
    "bundle": Environment("this bundle's own packages", 21, 81),
    "dev": Environment("lint and tests", 150, 440),
    "engine-cpu": Environment("vLLM 0.23.0 for the CPU, with PyTorch", 3100, 5780),
    "engine-cann": Environment("what vLLM 0.23.0 needs on an NPU", 3300, 6500),
    "engine-next": Environment("vLLM 0.32.0 for `make test-engines`", 3100, 6000),
}


def install(name: str, root: Path = ROOT) -> Path:
    """Make `.venv/name` from `requirements/name.txt`; give its Python.

    Does nothing if it was made from the same lock by the same Python.

    Raises:
        HostNotReady: wrong Python version, or too little disk.
        CouldNotRun: an install step failed.
    """
    folder = root / ".venv" / name
    python, stamp = folder / "bin/python", folder / "made-from"
    made_from = _made_from(root / "requirements" / f"{name}.txt")
    if python.exists() and stamp.exists() and stamp.read_text() == made_from:
        return python
    _check_host(name, root)
    print(_announcement(name), flush=True)
    started = time.monotonic()
    for command in commands(name, root):
        _run(command)
    stamp.write_text(made_from)
    print(f"  done in {time.monotonic() - started:.0f} s", flush=True)
    return python


def commands(name: str, root: Path) -> list[list[str]]:
    """Command lines that make the environment, in order."""
    folder, lock = root / ".venv" / name, root / "requirements" / f"{name}.txt"
    python, uv = folder / "bin/python", root / ".venv/tool/bin/uv"
    make = [sys.executable, "-m", "venv", *(["--without-pip"] if name != "tool" else [])]
    if name == "tool":
        fill = [python, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", lock]
    else:
        # Hard links into uv's cache would let one environment change another.
        options = ["--require-hashes", "--link-mode", "copy", "--python", python]
        fill = [uv, "pip", "sync", *options, lock]
    return [[*make, str(folder)], [str(word) for word in fill]]


def _announcement(name: str) -> str:
    about = ENVIRONMENTS[name]
    return (
        f"installing {name}: {about.purpose}; fetches about {about.fetched_mb} MB, "
        f"takes {about.disk_mb} MB in .venv/{name}"
    )


def _made_from(lock: Path) -> str:
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    return f"{digest} {sys.version_info.major}.{sys.version_info.minor}\n"


def _check_host(name: str, root: Path) -> None:
    version = sys.version_info[:2]
    if not PYTHONS[0] <= version <= PYTHONS[1]:
        raise HostNotReady(
            Problem(
                f"python3 is {version[0]}.{version[1]}, vLLM needs 3.10, 3.11 or 3.12",
                "install one of these and run `make PYTHON=python3.12 …`",
            )
        )
    raise_all(HostNotReady, toolchain.provide(toolchain.VENV))
    need = ENVIRONMENTS[name].fetched_mb + ENVIRONMENTS[name].disk_mb
    free = shutil.disk_usage(root).free // 1_000_000
    if free < need:
        raise HostNotReady(
            Problem(
                f"{free} MB are free on the disk of {root}, {name} needs {need} MB",
                "free some disk, or move this folder to a larger one",
            )
        )


def _run(command: Sequence[str]) -> None:
    print("  $", " ".join(command), flush=True)
    environ = {**os.environ, **uv_environ(os.environ, _pip_config())}
    try:
        done = subprocess.run(command, check=False, env=environ)
    except OSError as error:
        raise CouldNotRun(
            Problem(
                f"{command[0]} does not run: {error.strerror}", "mend or remove .venv"
            )
        ) from error
    if done.returncode:
        raise CouldNotRun(
            Problem(
                f"{command[0]} failed (exit {done.returncode}); it says why above",
                "mend that and run the same again, it goes on from here; behind a "
                "mirror set PIP_INDEX_URL",
            )
        )


def uv_environ(environ: Mapping[str, str], pip_config: str) -> dict[str, str]:
    """Let uv trust and use what pip does: the system's certificates, and pip's index.

    `pip_config` is the output of `pip config list`; uv reads no settings of pip.
    """
    found = re.findall(r"^\S+\.index-url='(.+)'$", pip_config, re.MULTILINE)
    index = environ.get("PIP_INDEX_URL") or (found[-1] if found else None)
    defaults = {"UV_SYSTEM_CERTS": "true"}
    if index:
        defaults["UV_DEFAULT_INDEX"] = index
    return {name: value for name, value in defaults.items() if name not in environ}


def _pip_config() -> str:
    command = [sys.executable, "-m", "pip", "config", "list"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def main(names: Sequence[str]) -> int:
    """Install each of `names`, the installer first."""
    if unknown := [name for name in names if name not in ENVIRONMENTS]:
        raise WrongUsage(
            Problem(
                f"{' '.join(unknown)} is no environment",
                f"name some of {', '.join(ENVIRONMENTS)}",
            )
        )
    for name in dict.fromkeys(["tool", *names]):
        install(name)
    return ExitCode.GOOD


if __name__ == "__main__":
    sys.exit(run_command(lambda: main(sys.argv[1:])))
