"""What the compose stack needs of this host, checked before Docker is asked for it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bundle.errors import Problem
from bundle.host import TAKEN, bind_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def problems(
    services: Mapping[str, Mapping[str, Any]], root: Path = Path("/")
) -> Iterator[Problem]:
    """Say which devices and files are missing and which ports are taken."""
    for name, service in services.items():
        yield from _devices(name, service, root)
        yield from _mounts(name, service, root)
        yield from _ports(name, service)


def _devices(name: str, service: Mapping[str, Any], root: Path) -> Iterator[Problem]:
    for device in service.get("devices", ()):
        if not (root / device["source"].lstrip("/")).exists():
            yield Problem(
                f"{name} needs the device {device['source']}, which is not here",
                "install the driver, or set NPU_DEVICE in .env to a card of this host",
            )


def _mounts(name: str, service: Mapping[str, Any], root: Path) -> Iterator[Problem]:
    for mount in service.get("volumes", ()):
        source = root / mount["source"].lstrip("/")
        if mount["type"] == "bind" and not os.access(source, os.R_OK):
            yield Problem(
                f"{name} needs {mount['source']}, which is not here or not readable",
                "install what brings it (the Ascend driver); NPU_SMI names npu-smi",
            )


def _ports(name: str, service: Mapping[str, Any]) -> Iterator[Problem]:
    for port in service.get("ports", ()):
        # Docker chooses a free one for 0 or nothing.
        number = int(port.get("published") or 0)
        address = port.get("host_ip", "0.0.0.0")  # noqa: S104 - Docker's own default
        if reason := bind_error(address, number):
            first = "end what listens there, or " if reason == TAKEN else ""
            yield Problem(
                f"{name} publishes port {number} on {address}: {reason}",
                f"{first}choose another by a PUBLISH_ line in .env",
            )
