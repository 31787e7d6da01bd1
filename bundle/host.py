"""What this machine is, as far as serving depends on it."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

from bundle import npu

if TYPE_CHECKING:
    from collections.abc import Callable

    from bundle.model import Family
    from bundle.settings import Settings

GIB = 1024**3


def has_npu(root: Path = Path("/")) -> bool:
    """Whether the Ascend driver's manager device is there."""
    return (root / "dev/davinci_manager").exists()


def device_family(
    settings: Settings, root: Path = Path("/"), npu_smi: Callable[[], str] = npu.npu_smi
) -> Family:
    """Family that the engine will run on; raises `HostNotReady` for an unknown card."""
    if settings.device == "cpu" or (settings.device == "auto" and not has_npu(root)):
        return "cpu"
    return npu.family(npu_smi)


def memory_available(root: Path = Path("/")) -> int:
    """Bytes that a new process can have: what the kernel says, within the cgroup."""
    for line in (root / "proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return min(int(line.split()[1]) * 1024, _cgroup_free(root))
    return _cgroup_free(root)


def _cgroup_free(root: Path) -> int:
    cgroup = root / "sys/fs/cgroup"
    try:
        limit = (cgroup / "memory.max").read_text().strip()
        used = int((cgroup / "memory.current").read_text())
    except (OSError, ValueError):
        return 2**63
    return 2**63 if limit == "max" else max(0, int(limit) - used)


def shm_size(root: Path = Path("/")) -> int:
    """Size of `/dev/shm` in bytes; 0 if it is not there."""
    try:
        stat = os.statvfs(root / "dev/shm")
    except OSError:
        return 0
    return stat.f_frsize * stat.f_blocks


def bind_error(address: str, port: int) -> str:
    """Why nothing can listen there; empty if it can."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            taken = error.errno == errno.EADDRINUSE
            return "another process listens there" if taken else str(error.strerror)
    return ""
