"""What any host must have; asked before anything is installed."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from typing import TYPE_CHECKING

from bundle import host
from bundle.checks.finding import Check, Finding, failure, ok, unknown, warning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bundle.checks.world import World

PYTHONS = ((3, 10), (3, 12))  # vLLM-Ascend 0.23.0 has wheels for these
MEMORY_GIB, DISK_GIB = 8, 20  # for the demo on the CPU engine; an image is 7 to 15 GB
OLDEST_COMPOSE = (2, 24)  # the first that reads `!reset`


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
    if free >= MEMORY_GIB:
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
        said = world.run(["docker", "compose", "version", "--short"]).strip()
    except (OSError, TimeoutError) as error:
        remedy = "install Docker with Compose 2.24 or newer, which an Ascend host needs"
        yield unknown(f"docker does not run: {error}", remedy)
        return
    numbers = tuple(int(number) for number in re.findall(r"\d+", said)[:2])
    if numbers < OLDEST_COMPOSE:
        yield warning(f"Compose is {said[:80]}", "install Compose 2.24 or newer")
    else:
        yield ok(f"Compose {said}")


def _user(world: World) -> Iterator[Finding]:
    entries = [line.split(":") for line in world.text("/etc/passwd").splitlines()]
    names = [entry[0] for entry in entries if entry[2:3] == [str(world.uid)]]
    if names:
        yield ok(f"uid {world.uid} is {names[0]}")
    else:
        remedy = "give the uid an entry in /etc/passwd; torch-npu looks it up"
        yield failure(f"uid {world.uid} has no name", remedy)


def _core_count(_: World) -> Iterator[Finding]:
    yield ok(f"{len(os.sched_getaffinity(0))} CPUs may be used")


CHECKS = (
    Check("architecture", _architecture),
    Check("python-version", _python),
    Check("cpus", _core_count),
    Check("host-memory", _memory),
    Check("disk", _disk),
    Check("docker", _docker),
    Check("user", _user),
)
