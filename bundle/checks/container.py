"""What a start in a container needs: the driver's files, CANN, shared memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bundle import host
from bundle.checks import variables
from bundle.checks.finding import Check, Finding, failure, ok, unknown, warning
from bundle.release import release

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bundle.checks.world import World

CANN = (9, 1)  # what vllm-ascend 0.23.0 is built for
INSTALL_INFO = "/usr/local/Ascend/ascend-toolkit/latest"
DRIVER_LIBRARY = "libascend_hal.so"
LIBRARIES = (DRIVER_LIBRARY, "libascendcl.so", "libhccl.so", "libatb.so")
_VERSION = re.compile(r"^version=(\S+)", re.MULTILINE)
_OF_THE_FOLDER = re.compile(r"/cann-([^/]+)$")
HOMES = ("ASCEND_HOME_PATH", "ATB_HOME_PATH")
MOUNTS = (
    "/usr/local/Ascend/driver/lib64",
    "/usr/local/dcmi",
    "/usr/local/Ascend/driver/version.info",
    "/etc/ascend_install.info",
)


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
    missing = [path for path in MOUNTS if not _is_filled(world.path(path))]
    if missing:
        yield warning(f"{', '.join(missing)} not mounted", "mount the host's")
    else:
        yield ok("the driver's files are mounted")


def _is_filled(path: Path) -> bool:
    """Whether it is a file or a folder with content: Docker makes what it cannot find."""
    return path.is_file() or (path.is_dir() and any(path.iterdir()))


def _cann_sourced(world: World) -> Iterator[Finding]:
    """vllm-ascend #262, #152: what `docker exec` and Kubernetes `command:` pass by."""
    toolkit = world.path("/usr/local/Ascend/ascend-toolkit")
    if not world.has_npu or not (world.in_container or toolkit.exists()):
        return  # a bare host needs no CANN: the images bring it
    homes = {name: world.environ.get(name, "") for name in HOMES}
    unset = [name for name in HOMES if not homes[name]]
    wrong = [f"{n}={homes[n]}" for n in HOMES if not world.path(homes[n]).is_dir()]
    remedy = "start by /opt/bundle/entrypoint/cann.sh, which sources CANN and ATB"
    if unset:
        yield failure(f"{', '.join(unset)} not set", remedy)
    elif wrong:
        yield failure(f"{', '.join(wrong)} is no folder", remedy)
    else:
        yield ok(f"CANN from {world.environ['ASCEND_HOME_PATH']}")


def _libraries(world: World) -> Iterator[Finding]:
    """vllm-ascend #1440, #130."""
    if not world.has_npu or not world.environ.get("ASCEND_HOME_PATH"):
        return
    folders = world.environ.get("LD_LIBRARY_PATH", "").split(":")
    missing = [
        name
        for name in LIBRARIES
        if not any((world.path(f) / name).is_file() for f in folders if f[:1] == "/")
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
    home = cann_home(world)
    if not world.has_npu or not world.path(home).exists():
        return
    found = cann_versions(world, home)
    known = [release(version) for version in found]
    what, wanted = f"CANN {', '.join(found)}", ".".join(map(str, CANN))
    if not known:
        yield unknown(f"no version of CANN in {home}", f"see that it is {wanted}")
    elif None in known:
        yield unknown(f"{what} is no version", f"see that it is {wanted}")
    elif all(one and one[0][: len(CANN)] == CANN and one[1] for one in known):
        yield ok(what)
    else:
        what += f", vllm-ascend 0.23.0 is built for {wanted}"
        yield warning(what, "use the image of this release")


def cann_home(world: World) -> str:
    """Give the folder of CANN: what is sourced counts, not what lies beside it."""
    return world.environ.get("ASCEND_HOME_PATH") or INSTALL_INFO


def cann_versions(world: World, home: str) -> list[str]:
    """Give what CANN's files say of its version; they may disagree, or say nothing."""
    infos = world.path(home).glob("*/ascend_toolkit_install.info")
    texts = [info.read_text(errors="replace") for info in infos]
    found = sorted({version for text in texts for version in _VERSION.findall(text)})
    return found or _OF_THE_FOLDER.findall(str(world.path(home).resolve()))


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
    elif (free := host.shm_free(world.root)) < need / 2 and not world.is_up:
        what = f"/dev/shm has {free / host.GIB:.2f} of {found / host.GIB:.1f} GiB free"  # noqa: S108
        yield warning(what, "remove what an engine that died has left (`ls -l /dev/shm`)")
    else:
        yield ok(f"/dev/shm has {found / host.GIB:.1f} GiB")  # noqa: S108


CHECKS = (
    Check("runtime", _runtime),
    Check("mounts", _mounts),
    Check("cann-sourced", _cann_sourced),
    Check("libraries", _libraries),
    Check("cann-version", _cann_version),
    *variables.CHECKS,
    Check("shm", _shm),
)
