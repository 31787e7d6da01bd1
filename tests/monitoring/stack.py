"""Prometheus, Alertmanager and a webhook, each on a free port."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import requests

from tests.fixtures.exporter import exporter, free_port
from tests.monitoring import faster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

MODEL = "smollm2-135m-instruct"


@dataclass
class Stack:
    """What runs: Prometheus' address, the exporter's, and what the webhook heard."""

    prometheus: str
    exporter: str
    heard: dict[str, str] = field(default_factory=dict)

    def query(self, expr: str) -> list[dict[str, Any]]:
        """Ask Prometheus now."""
        answer = requests.get(
            f"{self.prometheus}/api/v1/query", params={"query": expr}, timeout=10
        ).json()
        assert answer["status"] == "success", answer
        found: list[dict[str, Any]] = answer["data"]["result"]
        return found

    def value(self, expr: str) -> float:
        """Ask for one number; NaN as long as there is none."""
        found = self.query(expr)
        return float(found[0]["value"][1]) if found else float("nan")


def wait(what: str, holds: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until it holds; fail with `what` if it does not."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.25)


@contextmanager
def running(folder: Path, server: str, **environ: str) -> Iterator[Stack]:
    """Run it all over the server at `server` until the block ends."""
    ours, prometheus, alerts = free_port(), free_port(), free_port()
    stack = Stack(f"http://127.0.0.1:{prometheus}", f"http://127.0.0.1:{ours}")
    npus = (faster.ROOT / "tests/fixtures/npu-exporter.txt").read_bytes()
    with ExitStack() as parts:
        hook = parts.enter_context(_listening(_webhook(stack.heard)))
        cards = parts.enter_context(_listening(_page(npus)))
        targets = {
            "engine": server.removeprefix("http://"),
            "exporter": f"127.0.0.1:{ours}",
            "npu-exporter": cards,
        }
        settings = {"BUNDLE_SERVER_URL": server, "BUNDLE_PROBE_INTERVAL_SECONDS": "0.1"}
        parts.enter_context(exporter(ours, **settings, **environ))
        (folder / "rules.yml").write_text(faster.rules(MODEL))
        address = f"127.0.0.1:{alerts}"
        config = faster.prometheus(folder, targets, address)
        (folder / "prometheus.yml").write_text(config)
        (folder / "alertmanager.yml").write_text(faster.alertmanager(f"http://{hook}/"))
        parts.enter_context(_process(folder, "prometheus-alertmanager", alerts))
        parts.enter_context(_process(folder, "prometheus", prometheus))
        wait("Prometheus is not ready", lambda: _ready(stack.prometheus))
        yield stack


def _ready(url: str) -> bool:
    try:
        return requests.get(f"{url}/-/ready", timeout=2).ok
    except requests.RequestException:
        return False


@contextmanager
def _process(folder: Path, name: str, port: int) -> Iterator[None]:
    """Run one of Debian's two daemons, its files in `folder`."""
    options = {
        "prometheus": [
            f"--config.file={folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={folder / 'tsdb'}",
        ],
        "prometheus-alertmanager": [
            f"--config.file={folder / 'alertmanager.yml'}",
            f"--storage.path={folder / 'alerts'}",
            "--cluster.listen-address=",
        ],
    }[name]
    command = [name, *options, f"--web.listen-address=127.0.0.1:{port}"]
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        try:
            yield
        finally:
            process.terminate()
            process.wait(20)


@contextmanager
def _listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _webhook(heard: dict[str, str]) -> type[BaseHTTPRequestHandler]:
    """Note the last state of each alert by its name."""

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            heard[body["groupLabels"]["alertname"]] = body["status"]
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    return Hook


def _page(text: bytes) -> type[BaseHTTPRequestHandler]:
    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            pass

    return Page
