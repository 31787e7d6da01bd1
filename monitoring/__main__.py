"""`python -m monitoring`: the exporter, on port 9810."""

from __future__ import annotations

import os
import signal
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from bundle import api
from bundle.errors import ExitCode, HostNotReady, Problem, run_command
from bundle.model import load_model, load_questions
from bundle.settings import EXPORTER_PORT, load
from monitoring.about import About
from monitoring.collector import Scrape
from monitoring.deaths import Deaths
from monitoring.engine import Engine
from monitoring.evidence import Evidence
from monitoring.npu import Npu
from monitoring.page import page
from monitoring.prober import Prober
from monitoring.server_up import ServerUp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bundle.model import Model
    from bundle.settings import Settings
    from monitoring.collector import Source

TIMEOUT_SECONDS = 3  # below Prometheus' 10 s, also when two sources hang


def main(environ: Mapping[str, str]) -> int:
    """Serve until SIGTERM or SIGINT."""
    settings = load(environ)
    model = load_model(settings.models_dir, settings.model)
    probe = prober(settings, model)
    scrape = Scrape((*sources(settings, model), probe))
    server = listen(settings.listen_address, model.title, scrape)
    print(f"exporter on {settings.listen_address}:{EXPORTER_PORT}", flush=True)
    Thread(target=server.serve_forever, daemon=True).start()
    # A daemon: a probe that waits for a slow server does not hold up the end.
    Thread(target=probe.run, args=(Event(),), daemon=True).start()
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    server.shutdown()
    server.server_close()
    return ExitCode.GOOD


def sources(settings: Settings, model: Model) -> tuple[Source, ...]:
    """Give what is asked at each scrape; the prober is not among it."""
    target = api.server(settings, timeout=TIMEOUT_SECONDS)
    npu = Npu(settings.run_dir, expected=settings.device == "ascend")
    return (
        ServerUp(target),
        Engine(target),
        *(() if settings.device == "cpu" else (npu,)),
        Deaths(settings.run_dir),
        Evidence(),
        About(settings, model),
    )


def prober(settings: Settings, model: Model) -> Prober:
    """Give the prober with the model's canary questions, not yet running."""
    return Prober(
        api.server(settings, timeout=TIMEOUT_SECONDS),
        model,
        load_questions(settings.models_dir, settings.model).canary,
        settings.probe_interval_seconds,
    )


def listen(address: str, title: str, scrape: Scrape) -> ThreadingHTTPServer:
    """Give a web server, a thread per request, so that one that hangs blocks no other.

    Raises:
        HostNotReady: the port is taken.
    """

    class Bound(Handler):
        model = title
        source = scrape

    try:
        return ThreadingHTTPServer((address, EXPORTER_PORT), Bound)
    except OSError as error:
        raise HostNotReady(
            Problem(
                f"port {EXPORTER_PORT} on {address}: {error.strerror}",
                f"end what listens there (`ss -ltnp 'sport = :{EXPORTER_PORT}'`)",
            )
        ) from error


class Handler(BaseHTTPRequestHandler):
    """`/metrics`, `/healthz` of the exporter itself, and the landing page."""

    model: str
    source: Scrape

    def do_GET(self) -> None:
        """Answer one request."""
        if self.path == "/metrics":
            encode, kind = choose_encoder(self.headers.get("Accept", ""))
            registry = CollectorRegistry(auto_describe=False)
            registry.register(self.source)
            self._answer(200, kind, encode(registry))
        elif self.path == "/healthz":
            self._answer(200, "text/plain", b"ok\n")
        elif self.path == "/":
            text = page(self.model, self.source.collect())
            self._answer(200, "text/html; charset=utf-8", text.encode())
        else:
            self._answer(404, "text/plain", b"see / or /metrics\n")

    def log_message(self, *_: object) -> None:
        """Print no line per scrape."""

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    # Blocked in every thread, so that `sigwait` gets them.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    sys.exit(run_command(lambda: main(os.environ)))
