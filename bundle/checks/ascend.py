"""Driver and device nodes; each only where the host has an NPU, or says so."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from bundle.checks import chips
from bundle.checks.finding import Check, Finding, failure, ok, unknown, warning
from bundle.release import release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bundle.checks.world import World

NODES = ("davinci_manager", "devmm_svm", "hisi_hdc")
OLDEST_DRIVER = ((25, 5, 1), True)  # older ones may fail to capture graphs
VERSION_INFO = "/usr/local/Ascend/driver/version.info"
# A processing accelerator of Huawei, as the kernel tells it.
_PCI = {"vendor": "0x19e5", "class": "0x1200"}
FIRMWARE_INFO = "/usr/local/Ascend/firmware/version.info"


def _device_nodes(world: World) -> Iterator[Finding]:
    if not world.has_npu and not world.cards:
        yield _no_npu(world)
        return
    missing = [f"/dev/{n}" for n in NODES if not world.has_node(n)]
    if not world.cards:
        missing.append("/dev/davinci0, 1, …")
    if missing:
        remedy = "install the driver; in a container pass each by its exact name"
        yield failure(f"{', '.join(missing)} not here", remedy)
    else:
        yield ok(f"cards {', '.join(map(str, world.cards))}")


def _no_npu(world: World) -> Finding:
    for device in world.path("sys/bus/pci/devices").glob("*"):
        place = f"sys/bus/pci/devices/{device.name}"
        if all(world.text(f"{place}/{word}").startswith(_PCI[word]) for word in _PCI):
            remedy = "install the driver; in a container pass /dev/davinci_manager, …"
            return warning(f"an NPU at PCI {device.name}, but no device node", remedy)
    return ok("no NPU here: the CPU engine serves, for trying and for tests")


def _device_access(world: World) -> Iterator[Finding]:
    nodes = [*NODES, *(f"davinci{number}" for number in world.cards)]
    paths = [path for path in (world.path(f"dev/{n}") for n in nodes) if path.exists()]
    closed = [path for path in paths if not os.access(path, os.R_OK | os.W_OK)]
    if closed:
        stat = closed[0].stat()
        what = f"/dev/{closed[0].name} is {stat.st_mode & 0o777:04o} of {stat.st_uid}:"
        remedy = f"join group {stat.st_gid} (in a container: group_add)"
        yield failure(f"{what}{stat.st_gid}, uid {world.uid} may not use it", remedy)
    elif paths:
        yield ok(f"uid {world.uid} may read and write all {len(paths)} nodes")


def _driver_version(world: World) -> Iterator[Finding]:
    if not world.has_npu:
        return
    found = re.search(r"^Version=(\S+)", world.text(VERSION_INFO), re.MULTILINE)
    known = release(found[1]) if found else None
    if not found:
        yield unknown(f"{VERSION_INFO} names no version", "mount that file here")
    elif not known:
        yield unknown(
            f"driver {found[1]!r} is no version", "see that it is 25.5.1 or newer"
        )
    elif known < OLDEST_DRIVER:
        remedy = "upgrade the driver to 25.5.1 or newer, or add --enforce-eager"
        yield warning(f"driver {found[1]}", remedy)
    else:
        yield ok(f"driver {found[1]}")


def _firmware_version(world: World) -> Iterator[Finding]:
    """A fact for a report; driver and firmware come in one package."""
    found = re.search(r"^Version=(\S+)", world.text(FIRMWARE_INFO), re.MULTILINE)
    if found:
        yield ok(f"firmware {found[1]}")


CHECKS = (
    Check("device-nodes", _device_nodes),
    Check("device-access", _device_access),
    Check("driver-version", _driver_version),
    Check("firmware-version", _firmware_version),
    *chips.CHECKS,
)
