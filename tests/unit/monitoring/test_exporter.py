"""The exporter against a recorded page of vLLM 0.23.0, and against sources that fail."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
)
from prometheus_client.registry import Collector

from bundle.api import Server
from bundle.errors import CouldNotRun, Problem
from bundle.model import load_model, load_questions
from bundle.settings import load
from monitoring.about import About
from monitoring.collector import Scrape
from monitoring.deaths import Deaths
from monitoring.engine import Engine, parse
from monitoring.evidence import Evidence
from monitoring.exposition import exposition
from monitoring.families import FAMILIES, PREFIX
from monitoring.listener import Heard
from monitoring.npu import Npu
from monitoring.prober import Prober
from monitoring.server_up import ServerUp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client.core import Metric

ROOT = Path(__file__).parents[3]
RECORDED = (ROOT / "tests/fixtures/vllm-metrics/0.23.0.txt").read_text()
RECORDINGS = sorted((ROOT / "tests/fixtures/vllm-metrics").glob("*.txt"))
GOLDEN = ROOT / "tests/fixtures/exporter-page.txt"
WATCHED = ROOT / "tests/fixtures/watched"
MODELS = ROOT / "models"
MODEL = load_model(MODELS, "smollm2-135m-instruct")
NOW = 1_800_000_000.0


@contextmanager
def replaying(metrics: str, status: int = 200) -> Iterator[Server]:
    """Serve `metrics` as an engine would, on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = metrics.encode() if self.path == "/metrics" else b""
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield Server(f"http://127.0.0.1:{server.server_port}", timeout=2)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def scrape(server: Server) -> Scrape:
    """Give all sources, with clocks that stand still."""
    prober = Prober(server, MODEL, load_questions(MODELS, MODEL.name).canary, 15)
    for ttft in (0.06, 0.0618, 0.1):
        prober.metrics.measured(Heard("", 16, ttft, ttft + 0.24))
    prober.metrics.last_success = NOW
    sources = (
        ServerUp(server),
        Engine(server),
        Npu(WATCHED / "run", expected=True, now=lambda: NOW + 5),
        Deaths(WATCHED / "run"),
        Evidence(WATCHED / "report"),
        About(load({}), MODEL),
        prober,
    )
    return Scrape(sources, clock=lambda: 0.0)


def text(server: Server) -> str:
    """Give the exporter's page for `server`."""
    return exposition(scrape(server).collect()).decode()


def test_the_whole_page_is_as_recorded() -> None:
    """Update the golden page by UPDATE_GOLDEN=1 and read its diff."""
    with replaying(RECORDED) as server:
        found = text(server)
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(found)

    assert GOLDEN.read_text() == found


def test_a_page_is_that_of_the_library() -> None:
    class Source(Collector):
        def collect(self) -> Iterator[Metric]:
            odd = 'a "b" \\ c\nd 中'
            yield CounterMetricFamily("c", 'Back\\slash, "quote",\nline.', 1e9)
            yield InfoMetricFamily("i", "Labels.", value={"z": odd, "a": ""})
            yield HistogramMetricFamily("h", "", [("0.1", 2), ("+Inf", 3)], 1e-7)
            gauge = GaugeMetricFamily("g", "Numbers.", labels=["n"])
            for number in ("nan", "inf", "-inf", "0", "-1234567.5", "1e300"):
                gauge.add_metric([number], float(number))
            yield gauge

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Source())

    assert exposition(Source().collect()) == generate_latest(registry)


def test_the_page_passes_promtool() -> None:
    if not shutil.which("promtool"):
        pytest.skip("promtool is not installed (Debian package prometheus)")

    done = subprocess.run(
        ["/usr/bin/promtool", "check", "metrics"],
        input=GOLDEN.read_text(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_every_family_is_in_the_recorded_release() -> None:
    assert set(parse(RECORDED)) == {PREFIX + family.name for family in FAMILIES}


def test_sums_and_counts_are_the_engines_own() -> None:
    family = parse(RECORDED)["bundle_engine_time_to_first_token_seconds"]
    values = {sample.name.rpartition("_")[2]: sample.value for sample in family.samples}

    for suffix in ("count", "sum"):
        name = f"vllm:time_to_first_token_seconds_{suffix}{{"
        (line,) = [line for line in RECORDED.splitlines() if line.startswith(name)]
        assert values[suffix] == float(line.split()[-1])


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
def test_every_recorded_release_has_the_stable_names(recording: Path) -> None:
    found = parse(recording.read_text())

    for family in FAMILIES:
        assert not family.expected or PREFIX + family.name in found


def test_a_missing_family_is_named_once_and_the_rest_is_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    changed = RECORDED.replace("vllm:kv_cache_usage_perc", "vllm:renamed_again")
    with replaying(changed) as server:
        sources = scrape(server)
        first, second = list(sources.collect()), list(sources.collect())

    assert _sample(first, "bundle_collector_success", collector="engine") == 0
    assert "bundle_engine_time_to_first_token_seconds" in {m.name for m in second}
    assert capsys.readouterr().err == (
        "engine: missing: vllm:kv_cache_usage_perc or vllm:gpu_cache_usage_perc\n"
    )


def test_a_dead_server_is_absent_not_zero_and_the_page_is_there() -> None:
    metrics = list(scrape(Server("http://127.0.0.1:9", timeout=1)).collect())

    assert _sample(metrics, "bundle_server_up") == 0
    assert _sample(metrics, "bundle_collector_success", collector="engine") == 0
    assert _sample(metrics, "bundle_collector_success", collector="server") == 1
    named = {metric.name for metric in metrics}
    assert not {PREFIX + family.name for family in FAMILIES} & named


@pytest.mark.parametrize("garbage", ["<html>", "vllm:x{ 1", "a b c d e\n"])
def test_garbage_is_a_failure_of_the_engine_source_alone(garbage: str) -> None:
    with replaying(garbage) as server:
        metrics = list(scrape(server).collect())

    assert _sample(metrics, "bundle_collector_success", collector="engine") == 0
    assert _sample(metrics, "bundle_server_up") == 1


def test_a_failure_and_its_end_are_each_told_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Flaky:
        name = "flaky"
        fails = True

        def collect(self) -> list[Metric]:
            if self.fails:
                raise CouldNotRun(Problem("it is gone", "wait"))
            return []

    source = Flaky()
    sources = Scrape((source,))
    for source.fails in (True, True, False, False):
        list(sources.collect())

    assert capsys.readouterr().err == "flaky: it is gone\nflaky: is well again\n"


def _sample(metrics: list[Metric], name: str, **labels: str) -> float:
    (value,) = [
        sample.value
        for metric in metrics
        for sample in metric.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    ]
    return value
