"""The demo model on the real vLLM, started once by the real `make up` command.

The tests run in the order of the file; the last one stops the server.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import requests

from tests.fixtures.faulty_proxy import planting
from tests.fixtures.in_flight import InFlight

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
URL = "http://127.0.0.1:8000"
MODEL = "smollm2-135m-instruct"
# What a server without stop tokens does, whatever a client sends.
ENDLESS = {"ignore_eos": True, "stop_token_ids": []}
MAKE_UP_SECONDS = 1200  # the first one fetches the demo model and fills caches


def command(module: str, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the bundle with the settings of the embedded default."""
    return subprocess.run(
        [sys.executable, "-m", module, *words],
        cwd=ROOT,
        env={**os.environ, "BUNDLE_MODEL": MODEL, **environ},
        capture_output=True,
        text=True,
        timeout=MAKE_UP_SECONDS,
        check=False,
    )


@pytest.fixture(scope="module")
def up() -> Iterator[subprocess.CompletedProcess[str]]:
    """Give what `make up` printed; the server runs until the module is done."""
    if command("scripts.down").stdout != "nothing is running\n":
        print("a server of `make up` was running here; it has been stopped")
    done = command("scripts.up")
    yield done
    command("scripts.down")


def chat(question: str, **options: object) -> dict[str, Any]:
    """Ask the served model at temperature 0."""
    body = {
        "model": MODEL,
        "messages": [{"role": "user", "content": question}],
        "temperature": 0,
        **options,
    }
    answer = requests.post(f"{URL}/v1/chat/completions", json=body, timeout=60)
    answer.raise_for_status()
    choice: dict[str, Any] = answer.json()["choices"][0]
    return choice


@pytest.mark.timeout(MAKE_UP_SECONDS + 60)
def test_make_up_serves_and_proves(up: subprocess.CompletedProcess[str]) -> None:
    print(up.stdout, up.stderr)

    assert up.returncode == 0
    assert "is served:" in up.stdout
    assert "Traceback" not in up.stdout + up.stderr


@pytest.mark.usefixtures("up")
def test_the_model_answers_and_stops() -> None:
    choice = chat("What is the capital of China?", max_tokens=32)

    assert "Beijing" in choice["message"]["content"]
    assert choice["finish_reason"] == "stop"


@pytest.mark.usefixtures("up")
def test_the_report_holds_what_was_measured() -> None:
    report = json.loads((ROOT / "var/report/report.json").read_text())

    assert report["verdict"] == "pass"
    assert (ROOT / "var/report/report.md").read_text().startswith("# ")


@pytest.mark.usefixtures("up")
def test_the_exporter_shows_ttft_and_tpot_of_real_requests() -> None:
    page = requests.get("http://127.0.0.1:9810/metrics", timeout=10).text

    assert "bundle_server_up 1.0" in page
    for name in ("time_to_first_token", "time_per_output_token"):
        (count,) = [
            line
            for line in page.splitlines()
            if line.startswith(f"bundle_engine_{name}_seconds_count")
        ]
        assert float(count.split()[-1]) > 0


@pytest.mark.usefixtures("up")
def test_the_probe_gets_right_answers_and_the_page_says_up() -> None:
    deadline = time.monotonic() + 60  # the next probe is 15 s away at most
    while metric("bundle_canary_correct_total") < 1:
        assert time.monotonic() < deadline
        time.sleep(1)

    assert metric("bundle_canary_wrong_total") == 0
    for name in ("ttft", "tpot", "e2e"):
        assert metric(f"bundle_probe_{name}_seconds_count") >= 1
    for reason in ("http", "stream", "short", "timeout"):
        assert metric(f'bundle_probe_failures_total{{reason="{reason}"}}') == 0
    page = requests.get("http://127.0.0.1:9810/", timeout=10).text
    assert ">Up<" in page
    assert "vLLM 0.23.0" in page


@contextmanager
def quiet() -> Iterator[None]:
    """Hold the exporter: its probe would join our batch, and that rounds otherwise."""
    exporter = next(
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if path.read_bytes().endswith(b"\0-m\0monitoring\0")
        and (path.parent / "cwd").resolve() == ROOT
    )
    os.kill(exporter, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(exporter, signal.SIGCONT)


@pytest.fixture(scope="module")
def recorded(
    up: subprocess.CompletedProcess[str], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Give the file of the served model's own answers to the quick questions."""
    assert up.returncode == 0
    file = tmp_path_factory.mktemp("consistency") / "recorded.json"
    words = ("--quick", "--max-tokens", "32", "--record", str(file))
    with quiet():
        done = command("scripts.consistency", *words)

    assert done.returncode == 0, done.stdout + done.stderr
    return file


def test_the_server_is_consistent_with_itself(recorded: Path) -> None:
    words = ("--recorded", str(recorded), "--out", str(recorded.parent))
    with quiet():
        done = command("scripts.consistency", *words)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "exact match             8 of 8 = 100.0%" in done.stdout


@pytest.mark.parametrize(
    ("fault", "gate"),
    [
        ({"add_generation_prompt": False}, "prompt tokens: chat template and tokenizer"),
        (ENDLESS, "stops where the reference stops"),
        ({"repetition_penalty": 1.3}, "likeliest token chosen: no penalty, no sampling"),
    ],
    ids=["wrong chat template", "no stop token", "repetition penalty"],
)
def test_a_planted_fault_turns_its_gate_red(
    recorded: Path, fault: dict[str, Any], gate: str
) -> None:
    words = ("--recorded", str(recorded), "--out", str(recorded.parent))
    with planting(fault, URL) as url:
        done = command("scripts.consistency", *words, BUNDLE_SERVER_URL=url)

    assert done.returncode == 1, done.stdout + done.stderr
    assert f"FAIL  {gate}" in done.stdout


def test_word_problems_are_scored_and_answers_without_an_end_are_red(
    recorded: Path,
) -> None:
    words = ("own", "--limit", "5", "--out", str(recorded.parent))
    done = command("scripts.accuracy", *words)
    with planting(ENDLESS, URL) as url:
        short = (*words, "--max-tokens", "128")
        endless = command("scripts.accuracy", *short, BUNDLE_SERVER_URL=url)

    assert "own-written problems (not GSM8K), liveness check" in done.stdout
    assert done.returncode == 0, done.stdout + done.stderr
    assert endless.returncode == 1, endless.stdout + endless.stderr
    assert "FAIL  truncated answers: 5 of 5" in endless.stdout


def metric(series: str) -> float:
    """Give one value of the exporter's page."""
    page = requests.get("http://127.0.0.1:9810/metrics", timeout=10).text
    (line,) = [line for line in page.splitlines() if line.startswith(f"{series} ")]
    return float(line.split()[-1])


def test_prometheus_has_all_targets_and_their_data(
    up: subprocess.CompletedProcess[str],
) -> None:
    if found := re.search("without Prometheus.*", up.stdout):
        pytest.skip(found[0])
    assert "history  http://127.0.0.1:9090/" in up.stdout

    deadline = time.monotonic() + 60  # two scrapes and a probe
    jobs = {"engine", "exporter", "prometheus"}
    while {row["job"] for row in ask_prometheus("up == 1")} != jobs:
        assert time.monotonic() < deadline, ask_prometheus("up")
        time.sleep(1)

    for expr in (
        "bundle_build_info",
        "vllm:kv_cache_usage_perc",
        'ALERTS{alertname="Watchdog"}',
        "bundle_probe_ttft_seconds_count > 0",
    ):
        while not ask_prometheus(expr):
            assert time.monotonic() < deadline, expr
            time.sleep(1)
    check = ["promtool", "check", "config", str(ROOT / "var/prometheus/prometheus.yml")]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def ask_prometheus(expr: str) -> list[dict[str, str]]:
    """Give the labels of each series that `expr` has now."""
    url = "http://127.0.0.1:9090/api/v1/query"
    answer = requests.get(url, params={"query": expr}, timeout=10).json()
    return [row["metric"] for row in answer["data"]["result"]]


@pytest.mark.usefixtures("up")
@pytest.mark.parametrize("probe", ["live", "ready", "startup"])
def test_every_probe_is_good(probe: str) -> None:
    done = command("scripts.health", probe, BUNDLE_RUN_DIR=str(ROOT / "var/run"))

    assert (done.returncode, done.stdout) == (0, f"{probe}\n")


@pytest.mark.usefixtures("up")
def test_a_second_make_up_finds_it_running() -> None:
    started = time.monotonic()

    done = command("scripts.up")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "already running" in done.stdout
    assert "installing" not in done.stdout
    assert time.monotonic() - started < 120


@pytest.mark.usefixtures("up")
def test_another_model_is_refused_while_one_is_served() -> None:
    done = command("scripts.up", BUNDLE_MODEL="qwen-1_8b-chat")

    assert done.returncode == 69
    assert "run `make down` first" in done.stderr


@pytest.mark.usefixtures("up")
def test_a_request_in_flight_finishes_after_sigterm_and_down_leaves_nothing() -> None:
    record = json.loads((ROOT / "var/run/server.json").read_text())
    request = InFlight(URL, MODEL)
    os.kill(record["pid"], signal.SIGTERM)

    assert request.finish_reason() == "length"
    assert command("scripts.down").returncode == 0
    assert not [stat for stat in sessions() if stat == record["pid"]]


def sessions() -> Iterator[int]:
    """Give the session id of every living process."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            yield int(fields[3])
