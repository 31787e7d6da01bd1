"""Containers that die, and a network that leads nowhere.

After test_stack.py, whose last test left the server stopped; the tests run in the order
of the file.
"""

from __future__ import annotations

import json
import os
import signal
import time
from typing import TYPE_CHECKING

import pytest
import requests

from tests.container.engine import DOCKER, good, run
from tests.container.names import IMAGES, MODEL, PROMETHEUS, SERVICES, STACK, URL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.timeout(2400)
INTERNAL = [*STACK, "-f", "tests/container/internal.yaml"]
EXPORTER = "http://127.0.0.1:9810/metrics"


@pytest.fixture(scope="module", autouse=True)
def running(stack: dict[str, str]) -> None:
    """Have the whole stack up again."""
    assert stack
    good(*STACK, "up", "--detach", "--wait", *SERVICES, **IMAGES)


def until(true: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(1)


def query(expression: str) -> str:
    """Give the value of a PromQL expression; empty if it has none."""
    try:
        url = f"{PROMETHEUS}/query"
        answer = requests.get(url, params={"query": expression}, timeout=10).json()
    except requests.ConnectionError:
        return ""
    result = answer["data"]["result"]
    return str(result[0]["value"][1]) if result else ""


def state(service: str) -> tuple[int, int, bool]:
    """Give pid and restarts, and whether it is up and not known to be unhealthy."""
    name = good(*STACK, "ps", "--all", "--quiet", service, **IMAGES).strip()
    found = json.loads(good(DOCKER, "inspect", name))[0]
    health = found["State"].get("Health", {}).get("Status", "healthy")
    up = found["State"]["Running"] and health == "healthy"
    return found["State"]["Pid"], found["RestartCount"], up


@pytest.mark.parametrize("service", ["exporter", "alertmanager"])
def test_a_killed_container_is_seen_and_up_brings_it_back(service: str) -> None:
    """Docker takes `docker kill` for the operator's own stop, and starts nothing."""
    good(*STACK, "kill", service, **IMAGES)
    until(lambda: query(f'up{{job="{service}"}}') == "0")

    good(*STACK, "up", "--detach", "--wait", service, **IMAGES)
    until(lambda: query(f'up{{job="{service}"}}') == "1")


def test_a_killed_prometheus_keeps_what_it_had() -> None:
    before = time.time()
    until(lambda: query('up{job="engine"}') == "1")
    good(*STACK, "kill", "prometheus", **IMAGES)
    good(*STACK, "up", "--detach", "--wait", "prometheus", **IMAGES)

    until(lambda: query(f'up{{job="engine"}} @ {before:.0f}') != "")


@pytest.mark.parametrize("service", ["exporter", "prometheus", "alertmanager", "gateway"])
def test_a_crash_is_mended_without_a_person(service: str) -> None:
    pid, restarts, up = state(service)
    assert up
    os.kill(pid, signal.SIGKILL)

    until(lambda: state(service)[1:] == (restarts + 1, True))


def test_a_crash_of_the_server_is_told_and_mended_without_a_person() -> None:
    pid, restarts, up = state("server")
    assert up
    os.kill(pid, signal.SIGKILL)
    until(lambda: "bundle_server_up 0.0" in requests.get(EXPORTER, timeout=10).text)

    until(lambda: state("server")[1:] == (restarts + 1, True), 600)
    assert "bundle_server_up 1.0" in requests.get(EXPORTER, timeout=10).text
    body = {"model": MODEL, "prompt": "Once", "max_tokens": 4}
    answer = requests.post(f"{URL}/v1/completions", json=body, timeout=60)
    assert answer.json()["usage"]["completion_tokens"] == 4


@pytest.fixture
def internal() -> Iterator[None]:
    """Have server and exporter alone on a network without a way out."""
    good(*STACK, "--profile", "gateway", "down", **IMAGES)
    words = ("up", "--detach", "--wait", "--wait-timeout", "900", "server", "exporter")
    good(*INTERNAL, *words, **IMAGES)
    yield
    good(*INTERNAL, "down", **IMAGES)


@pytest.mark.usefixtures("internal")
def test_two_replicas_on_a_network_without_a_way_out_pass_the_smoke_test() -> None:
    name = good(*INTERNAL, "ps", "--quiet", "server", **IMAGES).strip()
    reach = "import socket; socket.create_connection(('1.1.1.1', 53), 5)"
    assert "Error" in run(DOCKER, "exec", name, "python3", "-c", reach).stderr

    done = run(*INTERNAL, "run", "--rm", "smoke", **IMAGES)

    assert done.returncode == 0, done.stdout + done.stderr
    read = "import urllib.request as u; print(u.urlopen('http://localhost:8000/metrics')"
    page = good(DOCKER, "exec", name, "python3", "-c", f"{read}.read().decode())")
    assert all(_answered(page, engine) > 0 for engine in ("0", "1"))


def _answered(page: str, engine: str) -> float:
    """Give how many requests one replica has answered."""
    start = f'vllm:request_success_total{{engine="{engine}"'
    lines = [line for line in page.splitlines() if line.startswith(start)]
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines)
