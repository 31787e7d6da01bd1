"""What this machine is, as far as serving depends on it."""

from __future__ import annotations

import errno
import os
import re
import socket
from pathlib import Path
from typing import TYPE_CHECKING

from bundle import npu

if TYPE_CHECKING:
    from collections.abc import Callable

    from bundle.model import Family
    from bundle.settings import Settings

GIB = 1024**3
UNBOUNDED = 2**63  # bytes: nobody tells a limit
_CACHED = r"^(?:total_)?inactive_file ([0-9]+)$"
TAKEN = "another process listens there"


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
    free = min(_cgroup_free(folder) for folder in _cgroups(root, "memory"))
    for line in (root / "proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return min(int(line.split()[1]) * 1024, free)
    return free


def cpu_share(root: Path = Path("/")) -> float | None:
    """CPUs whose time the cgroup may take; None if it is not bounded."""
    shares = [_cpu_share(folder) for folder in _cgroups(root, "cpu")]
    return min([share for share in shares if share is not None], default=None)


def _cgroups(root: Path, controller: str) -> list[Path]:
    """Give the folders of our cgroup and all above it, of version 2 and of version 1.

    A limit of any of them holds. Inside a container the mount has them at its top.
    """
    tops = [root / "sys/fs/cgroup", root / "sys/fs/cgroup" / controller]
    found = list(tops)
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, _, path = line.partition(":")[2].partition(":")
        below = Path(path.lstrip("/"))
        found += [top / part for top in tops for part in (below, *below.parents)]
    return found


def _cgroup_free(folder: Path) -> int:
    """Bytes up to a limit of memory; what is cached of files can be given back."""
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        words = _read(folder / limit).strip(), _read(folder / used).strip()
        if words[0].isdecimal() and words[1].isdecimal():
            cached = re.search(_CACHED, _read(folder / "memory.stat"), re.MULTILINE)
            held = int(words[1]) - (int(cached[1]) if cached else 0)
            return max(0, int(words[0]) - max(0, held))
    return UNBOUNDED


def _cpu_share(folder: Path) -> float | None:
    words = _read(folder / "cpu.max").split() or [
        _read(folder / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")
    ]
    numbers = [int(word) for word in words if word.isdecimal()]  # not "max", not -1
    return numbers[0] / numbers[1] if len(numbers) == 2 and numbers[1] else None  # noqa: PLR2004 - quota and period


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def shm_size(root: Path = Path("/")) -> int:
    """Size of `/dev/shm` in bytes; 0 if it is not there."""
    try:
        stat = os.statvfs(root / "dev/shm")
    except OSError:
        return 0
    return stat.f_frsize * stat.f_blocks


def shm_free(root: Path = Path("/")) -> int:
    """Bytes of `/dev/shm` that are not taken; 0 if it is not there."""
    try:
        stat = os.statvfs(root / "dev/shm")
    except OSError:
        return 0
    return stat.f_frsize * stat.f_bavail


def bind_error(address: str, port: int) -> str:
    """Why nothing can listen there, `TAKEN` or another reason; empty if it can."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((address, port))
    except OSError as error:
        return TAKEN if error.errno == errno.EADDRINUSE else str(error.strerror or error)
    except (ValueError, OverflowError, TypeError) as error:  # of the name or the number
        return str(error)
    return ""
