"""What any host must have; asked before anything is installed."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from typing import TYPE_CHECKING

from bundle import host
from bundle.checks.finding import Check, Finding, failure, ok, unknown, warning
from bundle.release import first_release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bundle.checks.world import World

PYTHONS = ((3, 10), (3, 12))  # vLLM-Ascend 0.23.0 has wheels for these
MEMORY_GIB, DISK_GIB = 8, 20  # for the demo on the CPU engine; an image is 7 to 15 GB
OLDEST_COMPOSE = ((2, 24), True)  # the first that reads `!reset`
_COMPOSE = "install Docker's Compose plugin 2.24 or newer, which an Ascend host needs"
_PASSWD = 7  # fields of a line of /etc/passwd


def _architecture(_: World) -> Iterator[Finding]:
    found = platform.machine()
    if found in {"x86_64", "aarch64"}:
        yield ok(f"{found}, Linux {platform.release()}")
    else:
        yield failure(found, "use a host with x86_64 or aarch64, as the wheels need")


def _python(_: World) -> Iterator[Finding]:
    found, version = sys.version_info[:2], platform.python_version()
    if PYTHONS[0] <= found <= PYTHONS[1]:
        yield ok(version)
    else:
        remedy = "install Python 3.10 to 3.12 for `make up`; the images bring their own"
        yield warning(version, remedy)


def _memory(world: World) -> Iterator[Finding]:
    free = host.memory_available(world.root) / host.GIB
    if free >= host.UNBOUNDED / host.GIB:
        yield unknown("no word of memory in /proc/meminfo", "look at `free -g` yourself")
    elif free >= MEMORY_GIB:
        yield ok(f"{free:.1f} GiB available")
    else:
        remedy = f"end other programs: {MEMORY_GIB} GiB are enough for the demo"
        yield warning(f"{free:.1f} GiB available", remedy)


def _disk(world: World) -> Iterator[Finding]:
    for folder in ("/", "/var/lib/docker"):
        path = world.path(folder)
        if not path.exists():
            continue
        free = shutil.disk_usage(path).free / host.GIB
        if free >= DISK_GIB:
            yield ok(f"{free:.0f} GiB free in {folder}")
        else:
            remedy = f"free some: images and weights take up to {DISK_GIB} GiB"
            yield warning(f"{free:.0f} GiB free in {folder}", remedy)


def _docker(world: World) -> Iterator[Finding]:
    if world.in_container:
        return
    try:
        said = world.run(["docker", "compose", "version", "--short"])
        server = world.run(["docker", "version", "--format", "{{.Server.Version}}"])
    except OSError as error:  # a TimeoutError is one
        yield unknown(f"docker does not run: {error.strerror or error}", _COMPOSE)
        return
    yield compose_release(said)
    line, known = first_release(server)
    if not known:
        remedy = "start Docker (systemctl start docker), or join its group"
        yield warning(f"Docker's daemon does not answer: {line[:200]}", remedy)


def compose_release(said: str) -> Finding:
    """Judge what `docker compose version --short` said."""
    line, known = first_release(said)
    if not known:
        return unknown(f"`docker compose version` says: {line[:200]}", _COMPOSE)
    if known < OLDEST_COMPOSE:
        return warning(f"Compose is {line}, this stack needs 2.24 or newer", _COMPOSE)
    return ok(f"Compose {line}")


def _user(world: World) -> Iterator[Finding]:
    entries = [line.split(":") for line in world.text("/etc/passwd").splitlines()]
    # getpwuid reads no line that is cut.
    names = [e[0] for e in entries if len(e) == _PASSWD and e[2] == str(world.uid)]
    if names:
        yield ok(f"uid {world.uid} is {names[0]}")
    else:
        remedy = "give the uid an entry in /etc/passwd; torch-npu looks it up"
        yield failure(f"uid {world.uid} has no name", remedy)


def _core_count(world: World) -> Iterator[Finding]:
    share = host.cpu_share(world.root)
    of_them = "" if share is None else f", for the time of {share:.1f}"
    yield ok(f"{len(os.sched_getaffinity(0))} CPUs may be used{of_them}")


CHECKS = (
    Check("architecture", _architecture),
    Check("python-version", _python),
    Check("cpus", _core_count),
    Check("host-memory", _memory),
    Check("disk", _disk),
    Check("docker", _docker),
    Check("user", _user),
)
