"""What the CPU engine needs from the operating system, besides Python packages.

Standard library only: it is asked before anything is installed.
"""

from __future__ import annotations

import ctypes
import shutil
import sysconfig
from pathlib import Path

from bundle.errors import Problem

# Seen on a minimal Debian with vLLM 0.23.0: without libnuma its extension does not load
# and the start fails; without a compiler it dies after half a minute, also when eager.
_APT = "apt-get install -y libnuma1 g++ python3-dev"
_DNF = "dnf install -y numactl-libs gcc-c++ python3-devel"


def missing() -> list[str]:
    """Names of what is not there, of: libnuma, a C++ compiler, Python's headers."""
    checks = {
        "libnuma.so.1": _loads("libnuma.so.1"),
        "g++": shutil.which("g++") is not None,
        "Python.h": (Path(sysconfig.get_path("include")) / "Python.h").is_file(),
    }
    return [name for name, there in checks.items() if not there]


def install_command() -> list[str]:
    """Command of this system's package manager that brings what is missing."""
    return (_APT if shutil.which("apt-get") else _DNF).split()


def problems() -> list[Problem]:
    """Give one problem with one command, if anything is missing."""
    if not (names := missing()):
        return []
    what = f"the CPU engine needs {', '.join(names)}, not found on this host"
    return [Problem(what, f"as root: {' '.join(install_command())}")]


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
