"""The exporter's web server: what is where, and a thread per request."""

from __future__ import annotations

import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from bundle.errors import BundleError, HostNotReady, Problem
from bundle.settings import EXPORTER_PORT
from monitoring import exposition
from monitoring.page.found import Found
from monitoring.page.html import page
from monitoring.page.status import status
from monitoring.page.words import choose
from monitoring.runbook import runbook

if TYPE_CHECKING:
    from collections.abc import Callable
    from email.message import Message
    from pathlib import Path

    from bundle.api import Server
    from bundle.model import Model
    from monitoring.collector import Scrape
    from monitoring.history import History

REFRESH_SECONDS = "15"
PLAIN, HTML = "text/plain; charset=utf-8", "text/html; charset=utf-8"


@dataclass(frozen=True)
class Watch:
    """What is watched; `report` is the folder of the last smoke test's report."""

    scrape: Scrape
    history: History
    model: Model
    server: Server
    report: Path


@dataclass(frozen=True)
class Answer:
    """An HTTP answer."""

    kind: str
    body: bytes
    status: int = 200
    refresh: bool = False


def listen(address: str, watch: Watch, port: int = EXPORTER_PORT) -> ThreadingHTTPServer:
    """Give a web server, a thread per request, so that one that hangs blocks no other.

    Raises:
        HostNotReady: the port is taken.
    """

    class Bound(Handler):
        watched = watch

    try:
        return ThreadingHTTPServer((address, port), Bound)
    except OSError as error:
        raise HostNotReady(
            Problem(
                f"port {port} on {address}: {error.strerror}",
                f"end what listens there (`ss -ltnp 'sport = :{port}'`)",
            )
        ) from error


def metrics(watch: Watch, _headers: Message) -> Answer:
    """Give every source."""
    return Answer(exposition.KIND, exposition.exposition(watch.scrape.collect()))


def healthz(_watch: Watch, _headers: Message) -> Answer:
    """Give that the exporter itself is alive."""
    return Answer(PLAIN, b"ok\n")


def front(watch: Watch, headers: Message) -> Answer:
    """Give the status page."""
    found = Found(watch.scrape.collect())
    up = found.total("bundle_server_up") == 1
    version = watch.server.version() if up else None
    shown = status(found, watch.history, watch.model, version, time.time())
    words = choose(headers.get("Accept-Language", ""))
    return Answer(HTML, page(shown, words).encode(), refresh=True)


def report(watch: Watch, _headers: Message) -> Answer:
    """Give the last smoke test's report, drawn if there is a drawing."""
    for name, kind in (("report.html", HTML), ("report.md", PLAIN)):
        path = watch.report / name
        if path.is_file():
            return Answer(kind, path.read_bytes())
    return Answer(PLAIN, b"no report yet: make smoke\n", 404)


def instructions(_watch: Watch, _headers: Message) -> Answer:
    """Give the runbook."""
    return Answer(HTML, runbook().encode())


ROUTES: dict[str, Callable[[Watch, Message], Answer]] = {
    "/": front,
    "/metrics": metrics,
    "/healthz": healthz,
    "/report": report,
    "/runbook": instructions,
}


class Handler(BaseHTTPRequestHandler):
    """Answers by `ROUTES`."""

    watched: Watch
    disable_nagle_algorithm = True  # else the body waits 40 ms for the headers' ACK

    def do_GET(self) -> None:
        """Answer one request."""
        route = ROUTES.get(self.path.partition("?")[0])
        if not route:
            self._answer(Answer(PLAIN, f"see {', '.join(ROUTES)}\n".encode(), 404))
            return
        try:
            self._answer(route(self.watched, self.headers))
        except BundleError as error:
            self._answer(Answer(PLAIN, f"{error}\n".encode(), 500))

    def log_message(self, *_: object) -> None:
        """Print no line per scrape."""

    def _answer(self, answer: Answer) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(answer.body)))
        if answer.refresh:
            self.send_header("Refresh", REFRESH_SECONDS)
        self.end_headers()
        self.wfile.write(answer.body)
