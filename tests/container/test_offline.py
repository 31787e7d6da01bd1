"""The archive for a host without a network: packed, unpacked, checked, loaded."""

from __future__ import annotations

import os
import tarfile
from typing import TYPE_CHECKING

import pytest

from bundle.errors import CouldNotRun
from scripts.offline import NAME, main
from tests.container.engine import COMPOSE, DOCKER, good, run
from tests.container.names import IMAGES

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

pytestmark = pytest.mark.timeout(1200)
TAG = "bundle-test/offline:1"  # small, and what every service is in this test


@pytest.fixture(scope="module")
def unpacked(images: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder that an operator has after `tar -xf`."""
    folder = tmp_path_factory.mktemp("offline")
    good(DOCKER, "tag", images["exporter"], TAG)
    with pytest.MonkeyPatch.context() as patch:
        for name in (*IMAGES, "GRAFANA_IMAGE"):
            patch.setenv(name, TAG)
        assert main([str(folder / "offline.tar")], (COMPOSE,)) == 0
    with tarfile.open(folder / "offline.tar") as tar:
        tar.extractall(folder)  # noqa: S202 - made above
    (folder / "offline.tar").unlink()
    return folder / NAME


def load(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run what the operator runs there."""
    return run("sh", str(folder / "load.sh"))


def test_what_is_loaded_is_what_the_stack_names(unpacked: Path) -> None:
    good(DOCKER, "image", "rm", TAG)

    done = load(unpacked)

    assert done.returncode == 0, done.stderr
    words = (
        COMPOSE,
        "--project-directory",
        str(unpacked),
        "-f",
        f"{unpacked}/compose.yaml",
    )
    named = good(*words, "--profile", "smoke", "config", "--images")
    assert set(named.split()) == {TAG}
    good(DOCKER, "image", "inspect", TAG)


def test_all_that_compose_mounts_is_in_it(unpacked: Path) -> None:
    for name in ("monitoring/prometheus.yml", "gateway/start.sh", "docs/ascend.md"):
        assert (unpacked / name).exists(), name
    assert not list(unpacked.rglob("api-key"))


def test_a_damaged_file_is_refused(unpacked: Path) -> None:
    with (unpacked / "images.tar").open("r+b") as file:
        file.seek(100_000)
        byte = file.read(1)
        file.seek(100_000)
        file.write(bytes([byte[0] ^ 1]))

    done = load(unpacked)

    assert done.returncode == 1
    assert "images.tar: FAILED" in done.stdout + done.stderr
    assert "copy the archive here again" in done.stderr


def test_another_architecture_is_refused(unpacked: Path) -> None:
    (unpacked / "architecture").write_text("vax\n")

    done = load(unpacked)

    assert done.returncode == 69
    assert f"the images are for vax, this host is {os.uname().machine}" in done.stderr


def test_an_image_that_is_not_here_is_told(
    images: dict[str, str], tmp_path: Path
) -> None:
    assert images  # under other names than those of compose.yaml

    with pytest.raises(CouldNotRun, match="No such image: ascend-chat-bundle/exporter"):
        main([str(tmp_path / "o.tar")], (COMPOSE,))
    assert list(tmp_path.iterdir()) == []
