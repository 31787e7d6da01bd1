"""What the exporter costs: `python -m tests.bench_exporter`.

Scrapes it while its server is under load from eight clients; prints the time of a
scrape, the memory, and the share of a core that a scrape and a probe in 15 s take.
`python -m tests.bench_exporter cpu` gives the processor time of making a page alone, with
no load, which a busy machine changes little.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from email.message import Message
from pathlib import Path
from statistics import median, quantiles
from threading import Event, Thread
from typing import TYPE_CHECKING

import requests

from bundle.api import Server
from bundle.model import load_model
from bundle.settings import load as settings_of
from monitoring.__main__ import prober, watch
from monitoring.listener import ProbeFailed
from monitoring.probe_request import ask
from monitoring.web import metrics
from tests.fixtures.exporter import REPORT, exporter, free_port
from tests.fixtures.monitored_server import Truth, serve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from monitoring.web import Watch

MODEL = "smollm2-135m-instruct"
SCRAPES, CLIENTS, INTERVAL = 400, 8, 15
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure, and print one figure a line."""
    server, port = free_port(), free_port()
    url = f"http://127.0.0.1:{server}"
    with (
        child("serve", str(server)),
        exporter(port, BUNDLE_SERVER_URL=url) as process,
        child("load", url),
    ):
        while not Server(url).healthy():
            time.sleep(0.1)
        before = cpu_seconds(process.pid)
        times = [scrape(port) for _ in range(SCRAPES)]
        each = (cpu_seconds(process.pid) - before) / SCRAPES
        memory = peak_bytes(process.pid)
    cuts = quantiles(times, n=100)
    print(f"scrape p50 {1000 * cuts[49]:.1f} ms, p99 {1000 * cuts[98]:.1f} ms")
    print(f"memory {memory / 1e6:.0f} MB at its peak")
    print(f"cpu {1000 * each:.1f} ms a scrape, its share of the probes included")
    print(f"share of a core at a scrape in {INTERVAL} s: {each / INTERVAL:.2%}")


def cpu() -> None:
    """Print the processor time of a page; the server is a process of its own."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    settings = settings_of({"BUNDLE_SERVER_URL": url, "BUNDLE_MODEL": MODEL})
    model = load_model(settings.models_dir, MODEL)
    watched = watch(settings, model, prober(settings, model), REPORT)
    with child("serve", str(port)):
        while not watched.server.healthy():
            time.sleep(0.1)
        times = [cpu_of_a_page(watched) for _ in range(SCRAPES)]
    print(
        f"cpu p50 {1000 * median(times):.1f} ms, least {1000 * min(times):.1f} ms a page"
    )


def cpu_of_a_page(watched: Watch) -> float:
    """Give the seconds of this process."""
    started = time.process_time()
    metrics(watched, Message())
    return time.process_time() - started


@contextmanager
def child(*words: str) -> Iterator[None]:
    """Run a part in a process of its own, so that it takes no time of another."""
    process = subprocess.Popen([sys.executable, "-m", "tests.bench_exporter", *words])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def serve_for_ever(port: str) -> None:
    """Be the server."""
    with serve(Truth(latencies=((0.2, 0.05),)), int(port)):
        Event().wait()


def load(url: str) -> None:
    """Ask without pause, with all clients."""
    for _ in range(CLIENTS):
        Thread(target=ask_for_ever, args=(url,)).start()


def ask_for_ever(url: str) -> None:
    """Be one client, from when the server is there."""
    while True:
        with suppress(ProbeFailed):
            ask(Server(url), MODEL, "What is the capital of China?")


def scrape(port: int) -> float:
    """Give the seconds that one scrape takes; a pause after it, as Prometheus makes."""
    started = time.perf_counter()
    answer = requests.get(f"http://127.0.0.1:{port}/metrics", timeout=20)
    seconds = time.perf_counter() - started
    assert 'bundle_collector_success{collector="engine"} 1.0' in answer.text
    time.sleep(0.05)
    return seconds


def cpu_seconds(pid: int) -> float:
    """User and system time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def peak_bytes(pid: int) -> int:
    """Most memory that a process ever had."""
    status = Path(f"/proc/{pid}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    PARTS: dict[str, Callable[..., None]]
    PARTS = {"": main, "cpu": cpu, "serve": serve_for_ever, "load": load}
    PARTS["".join(sys.argv[1:2])](*sys.argv[2:])
