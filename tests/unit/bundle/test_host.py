"""Facts of the machine, read from a made root folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bundle import host
from bundle.settings import load
from tests.fixtures.npu import npu_smi_says

if TYPE_CHECKING:
    from pathlib import Path

MEMINFO = "MemTotal: 24000000 kB\nMemAvailable: 1024 kB\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Give a root folder with 1 MiB of memory available."""
    for folder in ("proc", "dev", "sys/fs/cgroup"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "proc/meminfo").write_text(MEMINFO)
    return tmp_path


def test_no_driver_device_means_cpu(root: Path) -> None:
    assert host.device_family(load({}), root) == "cpu"


def test_the_driver_device_means_npu_and_the_chip_its_family(root: Path) -> None:
    (root / "dev/davinci_manager").touch()
    text = npu_smi_says("910B3")

    assert host.device_family(load({}), root, lambda: text) == "atlas-a2"


def test_the_cpu_can_be_chosen_beside_an_npu(root: Path) -> None:
    (root / "dev/davinci_manager").touch()

    assert host.device_family(load({"BUNDLE_DEVICE": "cpu"}), root) == "cpu"


def test_memory_is_what_the_kernel_has(root: Path) -> None:
    assert host.memory_available(root) == 1024 * 1024


@pytest.mark.parametrize(("limit", "expected"), [("max", 1024 * 1024), ("5000", 4000)])
def test_memory_is_bounded_by_the_cgroup(root: Path, limit: str, expected: int) -> None:
    (root / "sys/fs/cgroup/memory.max").write_text(limit + "\n")
    (root / "sys/fs/cgroup/memory.current").write_text("1000\n")

    assert host.memory_available(root) == expected


def test_no_shm_is_no_bytes(root: Path) -> None:
    assert host.shm_size(root) == 0


@pytest.mark.parametrize(
    ("line", "folder"),
    [
        ("0::/a.slice/b\n", "a.slice/b"),
        ("0::/a.slice/b\n", "a.slice"),
        ("4:memory:/a/b\n", "memory/a/b"),
        ("", "memory"),
    ],
)
def test_memory_is_bounded_by_every_cgroup_above(
    root: Path, line: str, folder: str
) -> None:
    """Of systemd's slices, and of version 1, whose files have other names."""
    (root / "proc/self").mkdir()
    (root / "proc/self/cgroup").write_text(line)
    cgroup = root / "sys/fs/cgroup" / folder
    cgroup.mkdir(parents=True)
    first = "memory" in folder
    (cgroup / ("memory.limit_in_bytes" if first else "memory.max")).write_text("5000\n")
    used = "memory.usage_in_bytes" if first else "memory.current"
    (cgroup / used).write_text("1500\n")
    (cgroup / "memory.stat").write_text("anon 1000\ninactive_file 500\n")

    assert host.memory_available(root) == 4000


@pytest.mark.parametrize(
    ("files", "share"),
    [
        ({"cpu.max": "50000 100000\n"}, 0.5),
        ({"cpu.max": "max 100000\n"}, None),
        ({"cpu.max": "50000\n"}, None),
        ({"cpu/cpu.cfs_quota_us": "200000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 2),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ({}, None),
    ],
)
def test_the_time_of_cpus_is_bounded_by_the_cgroup(
    root: Path, files: dict[str, str], share: float | None
) -> None:
    (root / "sys/fs/cgroup/cpu").mkdir()
    for name, text in files.items():
        (root / "sys/fs/cgroup" / name).write_text(text)

    assert host.cpu_share(root) == share


@pytest.mark.parametrize(
    ("address", "port"),
    [
        ("foo..bar", 0),
        ("no-such-host.invalid", 0),
        ("192.0.2.1", 0),
        ("127.0.0.1", 99999),
    ],
)
def test_an_address_that_cannot_be_bound_is_not_taken(address: str, port: int) -> None:
    assert host.bind_error(address, port) not in {"", host.TAKEN}
