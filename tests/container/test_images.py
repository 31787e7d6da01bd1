"""The images, looked into."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.container.engine import (
    DOCKER,
    ROOT,
    build,
    build_cann_packages,
    good,
    python_base,
    run,
)
from tests.container.names import MODEL

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.timeout(2400)


def inside(image: str, *words: str) -> str:
    """Run a command in a fresh container, as an operator would."""
    return good(DOCKER, "run", "--rm", "--network", "none", image, *words)


def test_any_command_passes_through_as_uid_1000(images: dict[str, str]) -> None:
    assert "uid=1000" in inside(images["server"], "bash", "-c", "id")


def test_uid_1000_has_a_passwd_entry(images: dict[str, str]) -> None:
    name = inside(images["server"], "getent", "passwd", "1000")

    assert name.split(":")[2:4] == ["1000", "1000"]


def test_our_packages_are_not_in_the_engines_python(images: dict[str, str]) -> None:
    code = "import importlib.util as u; print(u.find_spec('modelscope'))"

    assert inside(images["server"], "python3", "-c", code) == "None\n"


def test_the_light_images_have_no_torch_and_no_weights(images: dict[str, str]) -> None:
    for name in ("exporter", "smoke"):
        size = int(good(DOCKER, "inspect", "--format", "{{.Size}}", images[name]))
        assert size < 500_000_000, name


def test_history_and_settings_hold_no_trace_of_the_build(
    images: dict[str, str],
) -> None:
    for image in images.values():
        history = good(DOCKER, "history", "--no-trunc", image)
        found = json.loads(good(DOCKER, "inspect", image))[0]["Config"]
        assert "BEGIN CERTIFICATE" not in history
        assert not [e for e in found["Env"] if "CERT" in e or "INDEX" in e]
    assert (
        inside(images["server"], "bash", "-c", "ls /run/secrets 2>/dev/null || true")
        == ""
    )


def test_only_the_served_form_of_the_weights_is_in_the_image(
    images: dict[str, str],
) -> None:
    found = inside(images["server"], "bash", "-c", f"ls /models/{MODEL}")

    assert found == "native\n"


def test_a_bad_setting_exits_78_without_a_traceback(images: dict[str, str]) -> None:
    done = run(
        *(DOCKER, "run", "--rm", "--env", "BUNDLE_DEVICE=gpu"),
        images["server"],
    )

    assert done.returncode == 78
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("cache", "message"),
    [
        ([], "Read-only file system"),
        (["--tmpfs", "/var/cache/bundle:uid=1000,size=64k"], "No space left on device"),
        (["--tmpfs", "/var/cache/bundle:uid=0,mode=0755"], "Permission denied"),
    ],
)
def test_a_cache_that_takes_nothing_is_told_before_the_engine_starts(
    images: dict[str, str], cache: list[str], message: str
) -> None:
    options = ["--read-only", "--tmpfs", "/run/bundle:uid=1000", *cache]
    words = [DOCKER, "run", "--rm", *options, "--env", "BUNDLE_DEVICE=cpu"]
    done = run(*words, images["server"], "--check")

    assert done.returncode == 69
    said = f"VLLM_CACHE_ROOT='/var/cache/bundle/vllm' cannot be written: {message}"
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_a_code_change_moves_no_weights(images: dict[str, str], tmp_path: Path) -> None:
    """The layers that differ after a change of the entrypoint hold code only."""
    assert images
    before = _layers(build("server", python_base(), tag="before"))
    for name in ("bundle", "entrypoint", "models", "requirements", "scripts"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("Dockerfile", ".dockerignore"):
        shutil.copy2(ROOT / name, tmp_path)
    with (tmp_path / "entrypoint/__init__.py").open("a") as file:
        file.write("\n# a change\n")
    changed = build("server", python_base(), tmp_path, tag="after")
    after = _layers(changed)
    sizes = good(DOCKER, "history", "--format", "{{.Size}}", "--human=false", changed)

    same = next(i for i, layer in enumerate(after) if layer != before[i])
    moved = len(after) - 1 - same  # the last layer, that of no WARM, is empty
    assert 1 <= moved <= 3
    newest = [int(size) for size in sizes.split() if size != "0"][:moved]
    print(f"a change of the entrypoint moves {sum(newest)} bytes in {moved} layers")
    assert sum(newest) < 1_000_000


def _layers(image: str) -> list[str]:
    found = json.loads(good(DOCKER, "inspect", image))
    layers: list[str] = found[0]["RootFS"]["Layers"]
    return layers


def test_the_packages_of_the_engine_on_cann_are_those_of_the_lock(
    images: dict[str, str],
) -> None:
    """All but CANN itself, the plugin that CANN compiles, and triton-ascend."""
    assert images
    image = build_cann_packages(python_base())
    code = (
        "import importlib.metadata as m, vllm; "
        "print(*[m.version(n) for n in ('torch', 'torch-npu', 'transformers', 'vllm')])"
    )
    environ = ("--env", "TORCH_DEVICE_BACKEND_AUTOLOAD=0")
    found = good(DOCKER, "run", "--rm", *environ, image, "python3", "-c", code)

    assert found.split() == ["2.10.0", "2.10.0.post4", "5.5.4", "0.23.0"]
    good(DOCKER, "image", "rm", image)


def test_the_labels_name_version_and_licence(images: dict[str, str]) -> None:
    labels = json.loads(good(DOCKER, "inspect", images["server"]))[0]["Config"]["Labels"]
    licence = labels["ascend-chat-bundle.weights.licence"]

    version = re.search(
        '^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE
    )
    assert version
    assert labels["org.opencontainers.image.version"] == version[1]
    assert "Apache-2.0" in inside(images["server"], "cat", licence)
