"""An Ascend host without a card: what `make up` notes, and what the image makes of it.

Nothing here computes on an NPU; npu-smi says what it said on real hosts.
"""

from __future__ import annotations

import json
import shlex
import time
from typing import TYPE_CHECKING, Any

import pytest

from bundle import manifest
from bundle.checks.container import LIBRARIES
from bundle.checks.engine import BUILT_FOR
from bundle.model import Family, load_model
from bundle.settings import load
from entrypoint.command import vllm_argv
from scripts.up.ascend import SUFFIXES, detect, note
from tests.container.engine import COMPOSE, ROOT, good, run
from tests.container.names import IMAGES
from tests.fixtures.engines import HANGS, engine
from tests.fixtures.hosts import PACKAGES, idle_card
from tests.fixtures.npu import SAMPLES
from tests.fixtures.weights import CONFIG

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

pytestmark = pytest.mark.timeout(600)
FAKE = [COMPOSE, "-f", "compose.yaml", "-f", "tests/container/fake-npu.yaml"]
MODEL = "qwen-1_8b-chat"
FAMILIES: tuple[Family, ...] = ("atlas-a2", "atlas-a3", "atlas-310p", "atlas-a5")


def make_host(folder: Path, says: str, built_for: str = "A2") -> Path:
    """Make what of an Ascend host the container mounts, and the image's engine."""
    (folder / "says").write_text(says)
    (folder / "npu-smi").write_text("#!/bin/sh\ncat /fake/says\n")
    (folder / "npu-smi").chmod(0o755)
    (folder / "version.info").write_text("Version=25.5.1\n")
    info = folder / "cann/x86_64-linux/ascend_toolkit_install.info"
    info.parent.mkdir(parents=True)
    info.write_text("version=9.1.0\n")
    for library in LIBRARIES:
        (folder / "cann" / library).touch()
    (folder / "atb").mkdir()
    weights = folder / f"models/{MODEL}/native/Qwen-1_8B-Chat"
    weights.mkdir(parents=True)
    (weights / "config.json").write_text(json.dumps(CONFIG))
    (weights / "model.safetensors").write_bytes(bytes(1000))
    manifest.write(weights, {"id": "made"})
    engine(folder, HANGS, {**PACKAGES, "built for": built_for})
    folder.chmod(0o755)
    return folder


def check(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the image's own checks on that host."""
    words = ("run", "--rm", "--no-deps", "--env", f"BUNDLE_MODEL={MODEL}", "server")
    return run(*FAKE, *words, "--check", FAKE_HOST=str(folder), **IMAGES)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_image_finds_the_family_and_its_command_line(
    images: dict[str, str], tmp_path: Path, family: Family
) -> None:
    assert images
    done = check(make_host(tmp_path, idle_card(family), BUILT_FOR[family]))

    assert done.returncode == 0, done.stdout + done.stderr
    assert f" on {family}\n" in done.stdout
    made = {"WEIGHTS_DIR": "/fake/models", "ENGINE_PYTHON": "/fake/engine-python"}
    settings = load({f"BUNDLE_{name}": value for name, value in made.items()})
    expected = vllm_argv(settings, load_model(ROOT / "models", MODEL), family)
    assert shlex.split(done.stdout.splitlines()[-1]) == expected


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ("910a-25.5.2-ddr.txt", "is of no supported family"),
        ("err-8005.txt", "npu-smi info: it lists no chip; it says:"),
        ("a2-910b2c-23.0.2.1.txt", "are free, BUNDLE_MEMORY_UTILIZATION=0.9 asks for"),
        ("310p3-25.3.rc1-idle.txt", "is built for A2, the card is atlas-310p"),
        ("950dt-25.6.rc1.txt", "card 7 chip 0 is in Warning"),
    ],
)
def test_a_card_that_cannot_serve_is_refused(
    images: dict[str, str], tmp_path: Path, sample: str, message: str
) -> None:
    assert images
    done = check(make_host(tmp_path, (SAMPLES / sample).read_text()))

    assert done.returncode == 69
    assert message in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_the_doctor_in_the_image_finds_no_failure(
    images: dict[str, str], tmp_path: Path
) -> None:
    assert images
    host = make_host(tmp_path, idle_card("atlas-a2"))
    words = ("run", "--rm", "--no-deps", "server", "doctor", "--json")
    done = run(*FAKE, *words, FAKE_HOST=str(host), BUNDLE_MODEL=MODEL, **IMAGES)

    assert done.returncode == 0, done.stdout + done.stderr
    levels = {one["id"]: one["level"] for one in json.loads(done.stdout)["results"]}
    assert (levels["npu-smi"], levels["plugin"], levels["hbm"]) == ("ok", "ok", "ok")
    assert levels["mounts"] == "warning"  # this host has names for cards only


def test_the_exporter_has_the_readings_and_no_card(
    images: dict[str, str], tmp_path: Path
) -> None:
    assert images
    host = make_host(tmp_path, idle_card("atlas-a5"), "A5")
    # The stack of other tests may have the usual ports.
    ports = {"PUBLISH_PORT": "18000", "PUBLISH_EXPORTER_PORT": "19810"}
    environ = {**IMAGES, **ports, "FAKE_HOST": str(host), "BUNDLE_MODEL": MODEL}
    stack = [*FAKE, "--project-name", "bundle-test-npu"]
    good(*stack, "up", "--detach", "server", "exporter", **environ)
    try:
        path = "/run/bundle/readings/npu.json"
        read = ("exec", "--no-TTY", "exporter", "sh", "-c", f"cat {path}; ls /dev")
        for _ in range(60):
            if (done := run(*stack, *read, **environ)).stdout.startswith("{"):
                break
            time.sleep(1)
    finally:
        good(*stack, "down", "--volumes", **environ)

    text, _, devices = done.stdout.partition("}\n")
    assert '"name": "Ascend950DT"' in text
    assert "davinci" not in devices


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_found_reaches_the_stack(tmp_path: Path, family: Family) -> None:
    host = tmp_path / "host"
    for path in ("dev/davinci3", "dev/davinci_manager", "usr/local/sbin/npu-smi"):
        (host / path).parent.mkdir(parents=True, exist_ok=True)
        (host / path).touch()
    note(tmp_path / ".env", detect(host, lambda: idle_card(family)))

    env_file = ("--env-file", str(tmp_path / ".env"))
    said = good(COMPOSE, *env_file, "config", "--format", "json")
    server: dict[str, Any] = json.loads(said)["services"]["server"]

    assert server["devices"][0]["source"] == "/dev/davinci3"
    assert server["build"]["args"]["FAMILY_SUFFIX"] == SUFFIXES[family]
    mounted = {mount["target"]: mount["source"] for mount in server["volumes"]}
    assert mounted["/usr/local/bin/npu-smi"] == "/usr/local/sbin/npu-smi"
