"""The compose stack, on the CPU engine with the demo model.

The tests run in the order of the file: serve, prove, stop.
"""

from __future__ import annotations

import json
import subprocess
import time
from typing import Any

import pytest
import requests

from tests.container.engine import DOCKER, ROOT, good, run
from tests.container.names import (
    GATEWAY,
    IMAGES,
    JOBS,
    KEY,
    MODEL,
    PROMETHEUS,
    STACK,
    URL,
)
from tests.fixtures.in_flight import InFlight

pytestmark = pytest.mark.timeout(2400)


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
    while (found := _targets()) != JOBS:
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


def test_the_gateway_says_that_the_server_is_away(stack: dict[str, str]) -> None:
    assert stack
    header = {"Authorization": f"Bearer {KEY}"}
    answer = requests.get(f"{GATEWAY}/v1/models", headers=header, timeout=30)

    assert answer.status_code == 503
    assert "not up" in answer.json()["error"]["message"]


def test_no_warning_of_ours_is_in_the_log(stack: dict[str, str]) -> None:
    assert stack
    log = good(DOCKER, "logs", _server())
    ours = [line for line in log.splitlines() if not line.startswith(("(", "WARNING"))]

    assert not [line for line in ours if "error:" in line or "Traceback" in line]


def _server() -> str:
    return good(*STACK, "ps", "--all", "--quiet", "server", **IMAGES).strip()
