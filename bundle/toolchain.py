"""What is needed of the operating system, besides Python packages.

Standard library only: it is asked before anything is installed.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from bundle.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Callable


def _loads_libnuma() -> bool:
    try:
        ctypes.CDLL("libnuma.so.1")
    except OSError:
        return False
    return True


# What it is called, and whether it is there.
VENV = {"python3-venv": lambda: importlib.util.find_spec("ensurepip") is not None}

# Seen on a minimal Debian with vLLM 0.23.0: without libnuma its extension does not load
# and the start fails; without a compiler it dies after half a minute, also when eager.
ENGINE = {
    "libnuma.so.1": _loads_libnuma,
    "g++": lambda: shutil.which("g++") is not None,
    "Python.h": (Path(sysconfig.get_path("include")) / "Python.h").is_file,
}

Needs = dict[str, "Callable[[], bool]"]

_APT = "apt-get install -y python3-venv libnuma1 g++ python3-dev"
_DNF = "dnf install -y numactl-libs gcc-c++ python3-devel"


def missing(needs: Needs) -> list[str]:
    """Names of what is not there."""
    return [name for name, is_there in needs.items() if not is_there()]


def provide(needs: Needs) -> list[Problem]:
    """Install what is missing, as root on Debian or Ubuntu; else give one problem."""
    if missing(needs) and os.geteuid() == 0 and shutil.which("apt-get"):
        print(f"installing {', '.join(missing(needs))} by apt-get", flush=True)
        for words in ("apt-get update", _APT):
            command = ["env", "DEBIAN_FRONTEND=noninteractive", *words.split(), "-qq"]
            subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    return problems(needs)


def problems(needs: Needs) -> list[Problem]:
    """Give one problem with one command, if anything is missing."""
    if not (names := missing(needs)):
        return []
    what = f"{', '.join(names)} not found on this host"
    return [Problem(what, f"as root: {_APT if shutil.which('apt-get') else _DNF}")]
