"""What the stack needs of the host is missing, each in its own words."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

import pytest

from scripts.up.stack import problems

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def server() -> dict[str, Any]:
    """Give the service of an Ascend host, as Compose tells it."""
    return {
        "devices": [{"source": "/dev/davinci3", "target": "/dev/davinci3"}],
        "volumes": [
            {"type": "bind", "source": "/usr/local/dcmi", "target": "/usr/local/dcmi"},
            {"type": "volume", "source": "cache", "target": "/var/cache/bundle"},
        ],
        "ports": [{"host_ip": "127.0.0.1", "target": 8000, "published": "0"}],
    }


def found(root: Path, service: dict[str, Any]) -> list[str]:
    """Give what is wrong, as text."""
    return [problem.what for problem in problems({"server": service}, root)]


def test_a_host_that_has_all_is_good(tmp_path: Path, server: dict[str, Any]) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/davinci3").touch()
    (tmp_path / "usr/local/dcmi").mkdir(parents=True)

    assert found(tmp_path, server) == []


@pytest.mark.parametrize(
    "port",
    [{"target": 1}, {"target": 1, "published": ""}, {"host_ip": "::1", "published": "0"}],
)
def test_ports_of_any_form_are_read(
    tmp_path: Path, server: dict[str, Any], port: dict[str, Any]
) -> None:
    del server["devices"], server["volumes"]
    server["ports"] = [port]

    assert found(tmp_path, server) == []


def test_all_that_is_missing_is_told_at_once(
    tmp_path: Path, server: dict[str, Any]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        server["ports"][0]["published"] = str(port)

        assert found(tmp_path, server) == [
            "server needs the device /dev/davinci3, which is not here",
            "server needs /usr/local/dcmi, which is not here or not readable",
            f"server publishes port {port} on 127.0.0.1: another process listens there",
        ]
