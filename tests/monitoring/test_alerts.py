"""Trouble reaches a webhook, and its end does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fixtures.exporter import free_port
from tests.fixtures.monitored_server import Truth, serve
from tests.monitoring.stack import Stack, running, wait

if TYPE_CHECKING:
    from pathlib import Path

FAST = ((0.01, 0.001),)
SLOW = ((1.2, 0.001),)  # the objective of the demo model is 1 s


def test_each_trouble_is_heard_of_and_so_is_its_end(tmp_path: Path) -> None:
    truth, port = Truth(latencies=FAST), free_port()
    with running(tmp_path, f"http://127.0.0.1:{port}") as stack:
        becomes(stack, "ServerDown", "firing")
        with serve(truth, port):
            becomes(stack, "ServerDown", "resolved")
            assert "ProbesFailing" not in firing(stack)
            becomes(stack, "Watchdog", "firing")

            truth.otherwise = "!" * 48
            becomes(stack, "CanaryWrong", "firing")
            truth.otherwise = Truth().otherwise
            becomes(stack, "CanaryWrong", "resolved")

            truth.latencies = SLOW
            becomes(stack, "TtftSlow", "firing")
            truth.latencies = FAST
            becomes(stack, "TtftSlow", "resolved")
            assert "TpotSlow" not in stack.heard

            truth.fault = "http"
            becomes(stack, "ProbesFailing", "firing")
            truth.fault = ""
            becomes(stack, "ProbesFailing", "resolved")
        becomes(stack, "ServerDown", "firing")
        with serve(truth, port):
            becomes(stack, "ServerDown", "resolved")
            wait("something still fires", lambda: set(firing(stack)) == {"Watchdog"}, 90)


def becomes(stack: Stack, alert: str, state: str) -> None:
    wait(f"{alert} is not {state}", lambda: stack.heard.get(alert) == state, 90)


def firing(stack: Stack) -> list[str]:
    return [
        one["metric"]["alertname"] for one in stack.query('ALERTS{alertstate="firing"}')
    ]
