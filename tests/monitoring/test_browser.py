"""The status page in a real browser; it has no script that could fail."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.fixtures.exporter import exporter, free_port
from tests.fixtures.monitored_server import Truth, serve
from tests.monitoring.stack import wait

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("language", "word"), [("en-US", ">Up<"), ("zh-CN", ">运行正常<")]
)
def test_it_is_drawn_in_the_readers_language(
    language: str, word: str, tmp_path: Path
) -> None:
    if not shutil.which("chromium"):
        pytest.skip("chromium is not installed (Debian package)")
    truth, port = Truth(latencies=((0.01, 0.001),)), free_port()
    settings = {"BUNDLE_PROBE_INTERVAL_SECONDS": "0.1"}
    with serve(truth) as url, exporter(port, BUNDLE_SERVER_URL=url, **settings):
        wait("no probe yet", lambda: len(truth.given) > 3)
        picture = tmp_path / "page.png"
        shown = chromium(port, language, tmp_path, "--dump-dom")
        chromium(port, language, tmp_path, f"--screenshot={picture}")

    assert word in shown
    assert "<svg" in shown
    assert picture.stat().st_size > 20_000  # an empty page is 4 kB


def chromium(port: int, language: str, folder: Path, action: str) -> str:
    command = [
        "chromium",
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={folder / 'profile'}",
        f"--accept-lang={language}",
        "--window-size=390,844",
        action,
        f"http://127.0.0.1:{port}/",
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
