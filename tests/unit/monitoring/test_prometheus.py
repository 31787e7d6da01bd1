"""Prometheus takes our configuration."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from bundle.settings import EXPORTER_PORT, SERVER_PORT

CONFIG = Path(__file__).parents[3] / "monitoring/prometheus.yml"


def test_the_ports_are_those_of_the_code() -> None:
    jobs = yaml.safe_load(CONFIG.read_text())["scrape_configs"]
    targets = [t for job in jobs for c in job["static_configs"] for t in c["targets"]]

    assert f"server:{SERVER_PORT}" in targets
    assert f"exporter:{EXPORTER_PORT}" in targets


def test_promtool_finds_nothing() -> None:
    if not shutil.which("promtool"):
        pytest.skip("promtool is not installed (Debian package prometheus)")

    done = subprocess.run(
        ["/usr/bin/promtool", "check", "config", str(CONFIG)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
