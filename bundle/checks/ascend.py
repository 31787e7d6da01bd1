"""Driver, device nodes and cards; each only where the host has an NPU, or says so."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from bundle.checks.finding import Check, Finding, failure, ok, unknown, warning
from bundle.npu import family_of
from bundle.release import release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bundle.checks.world import World
    from bundle.npu_smi import Chip

NODES = ("davinci_manager", "devmm_svm", "hisi_hdc")
OLDEST_DRIVER = ((25, 5, 1), True)  # older ones may fail to capture graphs
VERSION_INFO = "/usr/local/Ascend/driver/version.info"
# A processing accelerator of Huawei, as the kernel tells it.
_PCI = {"vendor": "0x19e5", "class": "0x1200"}
_LOOK = "look at `npu-smi info` yourself"
FIRMWARE_INFO = "/usr/local/Ascend/firmware/version.info"
# npu-smi's own numbers; vllm-ascend #1440, #2698, Ascend/cann-container-image #46.
CODES = {
    "-8005": ("another container holds the card, or this user may not ask", "stop it"),
    "-8020": ("another container has the card for itself", "stop that container"),
}


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


def _npu_smi(world: World) -> Iterator[Finding]:
    if not world.has_npu:
        return
    said = world.npu_smi
    if isinstance(said, str):
        yield failure(
            said, "install the driver, or mount npu-smi here; reset a hung card"
        )
    elif said.chips and said.problem:
        yield unknown(f"npu-smi: {said.problem}", "report this release's output")
    elif said.chips and len(said.chips) < len(world.cards):
        what = f"npu-smi lists {len(said.chips)} chips of {len(world.cards)} cards"
        yield warning(what, "see `dmesg`: a card that is lost needs a reset")
    elif said.chips:
        yield ok(f"npu-smi {said.driver_version or '(?)'}, {len(said.chips)} chips")
    else:
        known = [CODES[code] for code in CODES if f"ret is {code}" in str(said.problem)]
        cause, remedy = known[0] if known else ("", "see that it works on the host")
        yield failure(f"npu-smi: {said.problem}{cause and f' ({cause})'}", remedy)


def _npu_family(world: World) -> Iterator[Finding]:
    for name in sorted({chip.name for chip in _chips(world)}):
        family = family_of(name)
        if family:
            yield ok(f"{name} is {family}")
        else:
            remedy = "use Atlas A2, A3, 300I Duo (310P) or 950; or set BUNDLE_DEVICE=cpu"
            yield failure(f"chip {name!r} is of no supported family", remedy)


def _npu_health(world: World) -> Iterator[Finding]:
    for chip in _chips(world):
        where = f"card {chip.npu} chip {chip.chip}"
        if chip.health is None:
            yield unknown(f"{where} tells no health", _LOOK)
        elif chip.health == "Warning":
            yield warning(f"{where} is in {chip.health}", "read `npu-smi info -t health`")
        elif chip.health != "OK":
            yield failure(f"{where} is in {chip.health}", "reset or replace the card")
    if _chips(world) and all(chip.health == "OK" for chip in _chips(world)):
        yield _unread(world) or ok("every chip says OK")


def _npu_holders(world: World) -> Iterator[Finding]:
    """vllm-ascend #9888: an engine that outlived its container keeps the memory."""
    held = [(chip, process) for chip in _chips(world) for process in chip.processes]
    for chip, process in held:
        name = process.name or "a process of another container"
        what = f"card {chip.npu} chip {chip.chip} is held by {process.pid} ({name})"
        yield warning(what, "end it before the start, unless it is this server")
    said = world.npu_smi
    if held or not _chips(world) or isinstance(said, str):
        return
    if said.silent_npus:
        what = (
            f"npu-smi tells no processes of NPU {', '.join(map(str, said.silent_npus))}"
        )
        yield unknown(what, _LOOK)
    else:
        yield _unread(world) or ok("npu-smi names no process that holds a chip")


def _unread(world: World) -> Finding | None:
    """Say that a part of the table is not known, so that nothing holds for all of it."""
    said = world.npu_smi
    if isinstance(said, str) or not said.problem:
        return None
    return unknown(f"npu-smi: {said.problem}", _LOOK)


def _chips(world: World) -> tuple[Chip, ...]:
    if not world.has_npu or isinstance(world.npu_smi, str):
        return ()
    return world.npu_smi.chips


CHECKS = (
    Check("device-nodes", _device_nodes),
    Check("device-access", _device_access),
    Check("driver-version", _driver_version),
    Check("firmware-version", _firmware_version),
    Check("npu-smi", _npu_smi),
    Check("npu-family", _npu_family),
    Check("npu-health", _npu_health),
    Check("npu-holders", _npu_holders),
)
