"""The exporter as a process."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import requests

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
URL = "http://127.0.0.1:9810"


@contextmanager
def exporter(**environ: str) -> Iterator[subprocess.Popen[str]]:
    """Run the exporter until the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", "monitoring"],
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "BUNDLE_LISTEN_ADDRESS": "127.0.0.1",
            "BUNDLE_SERVER_URL": "http://127.0.0.1:9",
            **environ,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_it_answers_while_the_server_is_dead_and_ends_on_sigterm() -> None:
    with exporter() as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "exporter on 127.0.0.1:9810\n"

        page = requests.get(f"{URL}/metrics", timeout=10)
        assert page.status_code == 200
        assert "bundle_server_up 0.0" in page.text
        assert requests.get(f"{URL}/healthz", timeout=10).text == "ok\n"
        assert ">Down<" in requests.get(f"{URL}/", timeout=10).text
        assert "ServerDown" in requests.get(f"{URL}/runbook", timeout=10).text
        assert requests.get(f"{URL}/nothing", timeout=10).status_code == 404

        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 0


def test_a_server_that_hangs_does_not_hang_the_exporter() -> None:
    with socket.create_server(("127.0.0.1", 0)) as hangs:  # accepts, never answers
        url = f"http://127.0.0.1:{hangs.getsockname()[1]}"
        with exporter(BUNDLE_SERVER_URL=url) as process:
            assert process.stdout is not None
            process.stdout.readline()
            started = time.monotonic()

            page = requests.get(f"{URL}/metrics", timeout=20)

            assert time.monotonic() - started < 10
            assert 'bundle_collector_success{collector="engine"} 0.0' in page.text


def test_a_taken_port_exits_69() -> None:
    with socket.create_server(("127.0.0.1", 9810)), exporter() as process:
        output, _ = process.communicate(timeout=30)

        assert process.returncode == 69
        assert "error: port 9810 on 127.0.0.1: Address already in use" in output
