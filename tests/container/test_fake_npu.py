"""An Ascend host without a card: what `make up` notes, and what the image makes of it.

Nothing here computes on an NPU; npu-smi says what it said on real hosts.
"""

from __future__ import annotations

import json
import shlex
import shutil
import time
from typing import TYPE_CHECKING, Any

import pytest

from bundle import manifest
from bundle.model import Family, load_model
from bundle.settings import load
from entrypoint.command import vllm_argv
from scripts.up.ascend import detect, note
from tests.container.engine import COMPOSE, ROOT, good, run
from tests.container.names import IMAGES
from tests.fixtures.engines import HANGS, engine
from tests.fixtures.npu import SAMPLES
from tests.fixtures.weights import CONFIG

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

pytestmark = pytest.mark.timeout(600)
FAKE = [COMPOSE, "-f", "compose.yaml", "-f", "tests/container/fake-npu.yaml"]
MODEL = "qwen-1_8b-chat"
FAMILIES: dict[str, tuple[Family, str]] = {
    "a2-910b2c-23.0.2.1.txt": ("atlas-a2", ""),
    "a3-ascend910-25.2.3-16die.txt": ("atlas-a3", "-a3"),
    "310p3-25.3.rc1-idle.txt": ("atlas-310p", "-310p"),
    "950dt-25.6.rc1.txt": ("atlas-a5", "-a5"),
}


def make_host(folder: Path, sample: str) -> Path:
    """Make what of an Ascend host the container mounts."""
    shutil.copy(SAMPLES / sample, folder / "says")
    (folder / "npu-smi").write_text("#!/bin/sh\ncat /fake/says\n")
    (folder / "npu-smi").chmod(0o755)
    (folder / "version.info").write_text("Version=25.5.1\n")
    weights = folder / f"models/{MODEL}/native/Qwen-1_8B-Chat"
    weights.mkdir(parents=True)
    (weights / "config.json").write_text(json.dumps(CONFIG))
    (weights / "model.safetensors").write_bytes(bytes(1000))
    manifest.write(weights, {"id": "made"})
    engine(folder, HANGS)
    folder.chmod(0o755)
    return folder


def check(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the image's own checks on that host."""
    words = ("run", "--rm", "--no-deps", "--env", f"BUNDLE_MODEL={MODEL}", "server")
    return run(*FAKE, *words, "--check", FAKE_HOST=str(folder), **IMAGES)


@pytest.mark.parametrize("sample", sorted(FAMILIES))
def test_the_image_finds_the_family_and_its_command_line(
    images: dict[str, str], tmp_path: Path, sample: str
) -> None:
    assert images
    done = check(make_host(tmp_path, sample))

    assert done.returncode == 0, done.stdout + done.stderr
    family = FAMILIES[sample][0]
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
    ],
)
def test_a_card_that_cannot_serve_is_refused(
    images: dict[str, str], tmp_path: Path, sample: str, message: str
) -> None:
    assert images
    done = check(make_host(tmp_path, sample))

    assert done.returncode == 69
    assert message in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_the_exporter_has_the_readings_and_no_card(
    images: dict[str, str], tmp_path: Path
) -> None:
    assert images
    host = make_host(tmp_path, "950dt-25.6.rc1.txt")
    environ = {**IMAGES, "FAKE_HOST": str(host), "BUNDLE_MODEL": MODEL}
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


@pytest.mark.parametrize("sample", sorted(FAMILIES))
def test_what_is_found_reaches_the_stack(tmp_path: Path, sample: str) -> None:
    host = tmp_path / "host"
    for path in ("dev/davinci3", "dev/davinci_manager", "usr/local/sbin/npu-smi"):
        (host / path).parent.mkdir(parents=True, exist_ok=True)
        (host / path).touch()
    note(tmp_path / ".env", detect(host, (SAMPLES / sample).read_text))

    env_file = ("--env-file", str(tmp_path / ".env"))
    said = good(COMPOSE, *env_file, "config", "--format", "json")
    server: dict[str, Any] = json.loads(said)["services"]["server"]

    assert server["devices"][0]["source"] == "/dev/davinci3"
    assert server["build"]["args"]["FAMILY_SUFFIX"] == FAMILIES[sample][1]
    mounted = {mount["target"]: mount["source"] for mount in server["volumes"]}
    assert mounted["/usr/local/bin/npu-smi"] == "/usr/local/sbin/npu-smi"
