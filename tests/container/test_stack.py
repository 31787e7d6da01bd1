"""The images and the compose stack, on the CPU engine with the demo model.

The tests run in the order of the file: build, look inside, serve, prove, stop.
"""

from __future__ import annotations

import json
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest
import requests

from tests.container.engine import (
    COMPOSE,
    DOCKER,
    ROOT,
    build,
    build_prometheus,
    daemon,
    good,
    python_base,
    run,
)
from tests.fixtures.in_flight import InFlight

if TYPE_CHECKING:
    from collections.abc import Iterator

URL = "http://127.0.0.1:8000"
PROMETHEUS = "http://127.0.0.1:9090/api/v1"
MODEL = "smollm2-135m-instruct"
STACK = [COMPOSE, "-f", "compose.yaml", "-f", "compose.cpu.yaml", "-p", "bundle-test"]
IMAGES = {
    "SERVER_IMAGE": "bundle-test/server",
    "EXPORTER_IMAGE": "bundle-test/exporter",
    "SMOKE_IMAGE": "bundle-test/smoke",
    "PROMETHEUS_IMAGE": "bundle-test/prometheus",
}
pytestmark = pytest.mark.timeout(2400)


@pytest.fixture(scope="module")
def images() -> Iterator[dict[str, str]]:
    """Build everything that is shipped, once."""
    with daemon() as why_not:
        if why_not:
            pytest.skip(why_not)
        base = python_base()
        build_prometheus(base)
        yield {name: build(name, base) for name in ("server", "exporter", "smoke")}


@pytest.fixture(scope="module")
def stack(images: dict[str, str]) -> Iterator[dict[str, str]]:
    """Bring the stack up, and down again with its volume."""
    good(*STACK, "up", "--wait", "--wait-timeout", "900", **IMAGES)
    yield images
    good(*STACK, "down", "--volumes", **IMAGES)


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


def test_a_code_change_moves_no_weights(images: dict[str, str]) -> None:
    """The layers that differ after a change of the entrypoint hold code only."""
    before = _layers(images["server"])
    path = ROOT / "entrypoint/__init__.py"
    text = path.read_text()
    try:
        path.write_text(text + "\n# a change\n")
        changed = build("server", python_base())
        after = _layers(changed)
    finally:
        path.write_text(text)
    build("server", python_base())

    moved = [layer for layer in after if layer not in before]
    assert 1 <= len(moved) <= 3
    sizes = good(DOCKER, "history", "--format", "{{.Size}}", "--human=false", changed)
    newest = [int(size) for size in sizes.split()[:8]]
    assert sum(newest[:6]) < 1_000_000


def _layers(image: str) -> list[str]:
    found = json.loads(good(DOCKER, "inspect", image))
    layers: list[str] = found[0]["RootFS"]["Layers"]
    return layers


def test_the_stack_serves_through_its_published_port(stack: dict[str, str]) -> None:
    assert stack
    body = {
        "model": MODEL,
        "messages": [{"role": "user", "content": "What is the capital of China?"}],
        "temperature": 0,
        "max_tokens": 32,
    }

    answer = requests.post(f"{URL}/v1/chat/completions", json=body, timeout=60).json()

    assert "Beijing" in answer["choices"][0]["message"]["content"]
    assert answer["choices"][0]["finish_reason"] == "stop"


def test_the_exporter_sees_the_server(stack: dict[str, str]) -> None:
    assert stack
    page = requests.get("http://127.0.0.1:9810/metrics", timeout=10).text

    assert "bundle_server_up 1.0" in page
    assert 'bundle_collector_success{collector="engine"} 1.0' in page


def test_every_target_of_prometheus_is_up(stack: dict[str, str]) -> None:
    assert stack
    deadline = time.monotonic() + 90
    while (found := _targets()) != {"engine", "exporter", "prometheus"}:
        assert time.monotonic() < deadline, found
        time.sleep(2)


@pytest.mark.parametrize("name", ["time_to_first_token", "time_per_output_token"])
def test_ttft_and_tpot_come_into_prometheus(stack: dict[str, str], name: str) -> None:
    assert stack
    query = {"query": f"bundle_engine_{name}_seconds_count"}
    deadline = time.monotonic() + 60  # the next scrape is 15 s away at most
    while not (series := _query(query)):
        assert time.monotonic() < deadline
        time.sleep(2)

    assert [one["metric"]["model_name"] for one in series] == [MODEL]


def _query(query: dict[str, str]) -> list[dict[str, Any]]:
    answer = requests.get(f"{PROMETHEUS}/query", params=query, timeout=10).json()
    found: list[dict[str, Any]] = answer["data"]["result"]
    return found


def _targets() -> set[str]:
    """Give the jobs whose targets are up."""
    try:
        answer = requests.get(f"{PROMETHEUS}/targets", timeout=10).json()
    except requests.ConnectionError:
        return set()
    active = answer["data"]["activeTargets"]
    return {target["labels"]["job"] for target in active if target["health"] == "up"}


def test_the_smoke_container_says_pass(stack: dict[str, str]) -> None:
    assert stack
    done = run(*STACK, "run", "--rm", "smoke", **IMAGES)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "verdict" in done.stdout


def test_the_root_is_read_only_and_nothing_is_privileged(stack: dict[str, str]) -> None:
    assert stack
    name = good(*STACK, "ps", "-q", "server", **IMAGES).strip()

    touched = run(DOCKER, "exec", name, "touch", "/opt/bundle/x")
    status = good(DOCKER, "exec", name, "cat", "/proc/self/status")

    assert "Read-only file system" in touched.stderr
    assert "CapEff:\t0000000000000000" in status
    assert "NoNewPrivs:\t1" in status


def test_stop_drains_a_request_in_flight(stack: dict[str, str]) -> None:
    assert stack
    request = InFlight(URL, MODEL)
    stopping = subprocess.Popen([*STACK, "stop", "server"], cwd=ROOT)

    assert request.finish_reason() == "length"
    assert stopping.wait(timeout=120) == 0
    state = json.loads(good(DOCKER, "inspect", _server()))[0]["State"]
    assert (state["ExitCode"], state["OOMKilled"]) == (0, False)


def test_no_warning_of_ours_is_in_the_log(stack: dict[str, str]) -> None:
    assert stack
    log = good(DOCKER, "logs", _server())
    ours = [line for line in log.splitlines() if not line.startswith(("(", "WARNING"))]

    assert not [line for line in ours if "error:" in line or "Traceback" in line]


def _server() -> str:
    return good(*STACK, "ps", "--all", "--quiet", "server", **IMAGES).strip()
