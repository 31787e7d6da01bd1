"""Variables that a start inherits, and what the engine and its libraries make of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bundle.checks.finding import Check, Finding, failure, ok, unknown, warning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bundle.checks.world import World

MAPPED = ("ASCEND_RT_VISIBLE_DEVICES", "NPU_VISIBLE_DEVICES")
_NUMBERS = r"[0-9]{1,4}(,[0-9]{1,4})*"
# Ascend Docker Runtime takes the host's numbers, ranges, and names such as Ascend910-0.
_CARD = r"(\w+-)*[0-9]{1,4}"
_OF_THE_HOST = rf"(?a:void|{_CARD}(,{_CARD})*)"
NETWORK_DISKS = ("nfs", "cifs", "smb", "ceph", "lustre", "gpfs", "beegfs", "glusterfs")
_OFF = {"", "0", "false", "no", "off"}


def _visible_devices(world: World) -> Iterator[Finding]:
    """vllm-ascend #13399, #449: in a container the cards are numbered from 0."""
    if not world.has_npu:
        return
    for name in MAPPED:
        if name in world.environ:
            yield _mapped(world, name, world.environ[name])
    given = world.environ.get("ASCEND_VISIBLE_DEVICES", "void")
    words = given.split(",")
    if not re.fullmatch(_OF_THE_HOST, given) or len(words) > len(set(words)):
        remedy = "set it to numbers of the host's cards, as 0,2 or 0-3, or to void"
        yield warning(f"ASCEND_VISIBLE_DEVICES={given!r} names no cards", remedy)


def _mapped(world: World, name: str, value: str) -> Finding:
    if not re.fullmatch(_NUMBERS, value):
        remedy = "unset it, or set it to numbers with commas between, as 0,1"
        return failure(f"{name}={value!r} names no cards", remedy)
    numbers = [int(number) for number in value.split(",")]
    if len(numbers) > len(set(numbers)):
        return failure(f"{name}={value} names a card twice", "name each card once")
    here = {*range(len(world.cards)), *(() if world.in_container else world.cards)}
    if set(numbers) - here:
        what = f"{name}={value}, but {len(world.cards)} cards are here"
        return failure(what, "unset it: a container numbers its cards from 0")
    return ok(f"{name}={value}")


def _preload(world: World) -> Iterator[Finding]:
    """Gpustack #5660: a path of another architecture or distribution."""
    words = re.split(r"[:\s]+", world.environ.get("LD_PRELOAD", "").strip())
    for path in filter(None, words):
        if "$" in path:
            yield unknown(f"LD_PRELOAD={path}: the loader fills it in", "write it out")
        elif "/" in path and not world.path(world.place(path)).is_file():
            yield failure(f"LD_PRELOAD={path} is not there", "unset LD_PRELOAD")


def _service_links(world: World) -> Iterator[Finding]:
    """A Kubernetes Service called vllm sets VLLM_PORT to tcp://…, which vLLM reads."""
    port = world.environ.get("VLLM_PORT", "")
    if "://" in port:
        remedy = "set enableServiceLinks: false, or name the Service otherwise"
        yield failure(f"VLLM_PORT={port}", remedy)
    elif port and not re.fullmatch("[0-9]{1,5}", port):
        yield failure(f"VLLM_PORT={port!r} is no number", "unset it")


def _multiprocess_folder(world: World) -> Iterator[Finding]:
    """Vllm #49983: files of metrics on a network disk make /metrics fail."""
    if not (folder := world.environ.get("PROMETHEUS_MULTIPROC_DIR")):
        return
    what = f"PROMETHEUS_MULTIPROC_DIR={folder}"
    kind = world.file_system(world.place(folder))
    if not world.path(world.place(folder)).is_dir():
        yield failure(f"{what} is no folder", "unset it, or make that folder on a tmpfs")
    elif kind is None:
        yield unknown(f"{what}: /proc/mounts names no disk", "see that it is a tmpfs")
    elif kind.split(".")[-1].startswith(NETWORK_DISKS):
        yield failure(f"{what} is on a network disk ({kind})", "use a tmpfs")
    else:
        yield ok(f"{what} is on {kind}")


def _modelscope(world: World) -> Iterator[Finding]:
    """Vllm #24060."""
    value = world.environ.get("VLLM_USE_MODELSCOPE", "")
    if value.strip().lower() not in _OFF:
        what = f"VLLM_USE_MODELSCOPE={value}"
        yield warning(what, "unset it: the weights lie on disk")


CHECKS = (
    Check("visible-devices", _visible_devices),
    Check("preload", _preload),
    Check("service-links", _service_links),
    Check("metrics-folder", _multiprocess_folder),
    Check("modelscope", _modelscope),
)
