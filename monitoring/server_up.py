"""Whether the server answers at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.core import GaugeMetricFamily, Metric

if TYPE_CHECKING:
    from bundle.api import Server


class ServerUp:
    """`bundle_server_up` from `/health`; a hung engine says 200 too (vLLM 0.23)."""

    name = "server"

    def __init__(self, server: Server) -> None:
        """Ask `server` at every scrape."""
        self._server = server

    def collect(self) -> list[Metric]:
        """Give 1 or 0; a server that is down is an answer, not a failure."""
        up = float(self._server.healthy())
        return [GaugeMetricFamily("bundle_server_up", "Whether /health says 200.", up)]
