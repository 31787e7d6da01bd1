"""The archive is refused in words where it could not be whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bundle.errors import BundleError, CouldNotRun, WrongUsage
from scripts.offline import main

if TYPE_CHECKING:
    from pathlib import Path

DOCKER = """#!/bin/sh
case "$*" in
  *version*) echo 2.30.0 ;;
  *--images*) echo a.example/server:1; echo {image} ;;
  *) {otherwise} ;;
esac
"""


def docker(
    folder: Path, monkeypatch: pytest.MonkeyPatch, image: str = "b:1", other: str = ":"
) -> None:
    """Put a stand-in for Docker on the PATH."""
    (folder / "docker").write_text(DOCKER.format(image=image, otherwise=other))
    (folder / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


@pytest.mark.parametrize("words", [[], ["a", "b"]])
def test_one_archive_is_named(words: list[str]) -> None:
    with pytest.raises(WrongUsage, match="name the archive"):
        main(words)


def test_a_digest_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    docker(tmp_path, monkeypatch, image=f"b@sha256:{'0' * 64}")

    with pytest.raises(CouldNotRun, match="named by its digest"):
        main([str(tmp_path / "o.tar")])


def test_a_place_that_takes_nothing_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docker(tmp_path, monkeypatch)
    (tmp_path / "file").touch()

    with pytest.raises(BundleError, match=r"o\.tar cannot be written"):
        main([str(tmp_path / "file/o.tar")])


def test_a_save_that_breaks_off_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = '[ "$2" = save ] && echo no space left on device >&2 && exit 1 || :'
    docker(tmp_path, monkeypatch, other=full)
    (tmp_path / "out").mkdir()

    with pytest.raises(CouldNotRun, match="no space left on device"):
        main([str(tmp_path / "out/o.tar")])
    assert list((tmp_path / "out").iterdir()) == []
