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
