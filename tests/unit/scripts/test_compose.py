"""Docker and Compose that are missing, old or silent are told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bundle.errors import BundleError, CouldNotRun, HostNotReady
from scripts import compose

if TYPE_CHECKING:
    from pathlib import Path


def docker(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a stand-in for Docker's command on the PATH."""
    (folder / "docker").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


@pytest.mark.parametrize(
    ("script", "error", "message"),
    [
        ("echo 2.20.3", HostNotReady, "Compose is 2.20.3, this stack needs 2.24"),
        ("echo v1.29.2", HostNotReady, "Compose is v1.29.2"),
        ("echo v2.24.0-rc.1", HostNotReady, "Compose is v2.24.0-rc.1"),
        ("echo nonsense", HostNotReady, "`docker compose version` says: nonsense"),
        ("echo no such plugin >&2; exit 1", CouldNotRun, "no such plugin"),
        (
            '[ "$1" = compose ] && echo v2.40.1 && exit; echo no daemon >&2; exit 1',
            CouldNotRun,
            "`docker info` failed: no daemon",
        ),
    ],
)
def test_what_cannot_be_used_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    script: str,
    error: type[BundleError],
    message: str,
) -> None:
    docker(tmp_path, script, monkeypatch)

    with pytest.raises(error, match=message):
        compose.check()


@pytest.mark.parametrize("version", ["2.24.0", "v2.40.1-desktop.1", "5.0.0"])
def test_a_new_one_with_a_daemon_is_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    docker(tmp_path, f"echo {version}", monkeypatch)

    compose.check()


def test_a_host_without_docker_is_not_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(HostNotReady, match="docker does not run: No such file"):
        compose.check()
