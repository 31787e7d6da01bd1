"""What a start in a container needs: CANN, libraries, shared memory, variables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bundle import host
from bundle.checks.finding import Check, Finding, failure, ok, unknown, warning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bundle.checks.world import World

CANN = "9.1"  # what vllm-ascend 0.23.0 is built for
INSTALL_INFO = "/usr/local/Ascend/ascend-toolkit/latest"
DRIVER_LIBRARY = "libascend_hal.so"
LIBRARIES = (DRIVER_LIBRARY, "libascendcl.so", "libhccl.so", "libatb.so")
MOUNTS = (
    "/usr/local/Ascend/driver/lib64",
    "/usr/local/dcmi",
    "/usr/local/Ascend/driver/version.info",
    "/etc/ascend_install.info",
)
MAPPED = ("ASCEND_RT_VISIBLE_DEVICES", "NPU_VISIBLE_DEVICES")


def _runtime(world: World) -> Iterator[Finding]:
    """vllm-ascend #2698: NODRV keeps Ascend Docker Runtime from mounting the driver."""
    options = world.environ.get("ASCEND_RUNTIME_OPTIONS", "")
    cards = world.environ.get("ASCEND_VISIBLE_DEVICES", "")
    given = f", ASCEND_VISIBLE_DEVICES={cards} (numbers of the host)" if cards else ""
    place = "Kubernetes" if "KUBERNETES_SERVICE_HOST" in world.environ else "a container"
    if world.has_npu and "NODRV" in options:
        yield failure(f"ASCEND_RUNTIME_OPTIONS={options}", "take NODRV out of it")
    else:
        yield ok(f"in {place}{given}" if world.in_container else "in no container")


def _mounts(world: World) -> Iterator[Finding]:
    """Ascend Docker Runtime mounts the first ones itself; Compose names all of them."""
    if not world.has_npu or not world.in_container:
        return
    missing = [path for path in MOUNTS if not world.path(path).exists()]
    if missing:
        yield warning(f"{', '.join(missing)} not mounted", "mount the host's")
    else:
        yield ok("the driver's files are mounted")


def _cann_sourced(world: World) -> Iterator[Finding]:
    """vllm-ascend #262, #152: what `docker exec` and Kubernetes `command:` pass by."""
    if not world.has_npu or not world.path("/usr/local/Ascend/ascend-toolkit").exists():
        return
    names = ("ASCEND_HOME_PATH", "ATB_HOME_PATH")
    unset = [name for name in names if not world.environ.get(name)]
    if unset:
        remedy = "start by /opt/bundle/entrypoint/cann.sh, which sources CANN and ATB"
        yield failure(f"{', '.join(unset)} not set", remedy)
    else:
        yield ok(f"CANN from {world.environ['ASCEND_HOME_PATH']}")


def _libraries(world: World) -> Iterator[Finding]:
    """vllm-ascend #1440, #130."""
    if not world.has_npu or not world.environ.get("ASCEND_HOME_PATH"):
        return
    folders = [f for f in world.environ.get("LD_LIBRARY_PATH", "").split(":") if f]
    missing = [
        name
        for name in LIBRARIES
        if not any((world.path(folder) / name).exists() for folder in folders)
    ]
    if DRIVER_LIBRARY in missing:
        remedy = "mount /usr/local/Ascend/driver/lib64, and keep it on LD_LIBRARY_PATH"
        yield failure(f"{', '.join(missing)} not found", remedy)
    elif missing:
        yield failure(
            f"{', '.join(missing)} not found", "source CANN's and ATB's set_env.sh"
        )
    else:
        yield ok(f"{', '.join(LIBRARIES)} found")


def _cann_version(world: World) -> Iterator[Finding]:
    """vllm-ascend #540."""
    if not world.has_npu or not world.path(INSTALL_INFO).exists():
        return
    version = cann_version(world)
    if not version:
        yield unknown(f"no version of CANN in {INSTALL_INFO}", f"see that it is {CANN}")
    elif not version.startswith(CANN):
        what = f"CANN {version}, vllm-ascend 0.23.0 is built for {CANN}"
        yield warning(what, "use the image of this release")
    else:
        yield ok(f"CANN {version}")


def cann_version(world: World) -> str | None:
    """Give the version of the CANN that is installed; None if it cannot be told."""
    infos = sorted(world.path(INSTALL_INFO).glob("*/ascend_toolkit_install.info"))
    text = infos[0].read_text(errors="replace") if infos else ""
    found = re.search(r"^version=(\S+)", text, re.MULTILINE)
    return found[1] if found else None


def _visible_devices(world: World) -> Iterator[Finding]:
    """vllm-ascend #13399, #449: in a container the cards are numbered from 0."""
    for name in MAPPED:
        value = world.environ.get(name)
        if value is None or not world.has_npu:
            continue
        numbers = [int(number) for number in re.findall(r"\d+", value)]
        if not numbers:
            yield unknown(f"{name}={value!r} names no card", "unset it")
        elif world.in_container and max(numbers) >= len(world.cards):
            what = f"{name}={value}, but {len(world.cards)} cards are mounted"
            yield failure(what, "unset it: a container numbers its cards from 0")
        else:
            yield ok(f"{name}={value}")


def _preload(world: World) -> Iterator[Finding]:
    """Gpustack #5660: a path of another architecture or distribution."""
    words = re.split(r"[:\s]+", world.environ.get("LD_PRELOAD", "").strip())
    for path in filter(None, words):
        if "/" in path and not world.path(path).exists():
            yield failure(f"LD_PRELOAD={path} is not there", "unset LD_PRELOAD")


def _service_links(world: World) -> Iterator[Finding]:
    """A Kubernetes Service called vllm sets VLLM_PORT to tcp://…, which vLLM reads."""
    port = world.environ.get("VLLM_PORT", "")
    if "://" in port:
        remedy = "set enableServiceLinks: false, or name the Service otherwise"
        yield failure(f"VLLM_PORT={port}", remedy)


def _multiprocess_folder(world: World) -> Iterator[Finding]:
    """Vllm #49983: files of metrics on a network disk make /metrics fail."""
    folder = world.environ.get("PROMETHEUS_MULTIPROC_DIR")
    mounts = [line.split() for line in world.text("/proc/mounts").splitlines()]
    places = [m for m in mounts if folder and len(m) > 2 and _is_below(folder, m[1])]  # noqa: PLR2004
    if places and max(places, key=lambda mount: len(mount[1]))[2].startswith("nfs"):
        yield failure(f"PROMETHEUS_MULTIPROC_DIR={folder} is on NFS", "use a tmpfs")


def _modelscope(world: World) -> Iterator[Finding]:
    """Vllm #24060."""
    if world.environ.get("VLLM_USE_MODELSCOPE"):
        what = f"VLLM_USE_MODELSCOPE={world.environ['VLLM_USE_MODELSCOPE']}"
        yield warning(what, "unset it: the weights lie on disk")


def _shm(world: World) -> Iterator[Finding]:
    """vllm-ascend #8470."""
    found = host.shm_size(world.root)
    need = host.GIB if world.several_workers else host.GIB // 16
    # A tmpfs of exactly 1 GiB shows a little less on some kernels.
    if found < need * 0.95:
        yield failure(
            f"/dev/shm has {found / host.GIB:.1f} GiB, the engine needs "  # noqa: S108
            f"{need / host.GIB:.1f} GiB",
            "give the container shm_size: 1gb (docker run --shm-size=1g)",
        )
    else:
        yield ok(f"/dev/shm has {found / host.GIB:.1f} GiB")  # noqa: S108


def _is_below(path: str, mount: str) -> bool:
    return path == mount or path.startswith(mount.rstrip("/") + "/")


CHECKS = (
    Check("runtime", _runtime),
    Check("mounts", _mounts),
    Check("cann-sourced", _cann_sourced),
    Check("libraries", _libraries),
    Check("cann-version", _cann_version),
    Check("visible-devices", _visible_devices),
    Check("preload", _preload),
    Check("service-links", _service_links),
    Check("metrics-folder", _multiprocess_folder),
    Check("modelscope", _modelscope),
    Check("shm", _shm),
)
