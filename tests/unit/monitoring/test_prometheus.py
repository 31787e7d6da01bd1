"""Prometheus and Alertmanager take our configuration."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from bundle.model import load_model
from bundle.settings import EXPORTER_PORT, SERVER_PORT
from monitoring.rules.file import alerts

CONFIG = Path(__file__).parents[3] / "monitoring/prometheus.yml"


def test_the_ports_are_those_of_the_code() -> None:
    jobs = yaml.safe_load(CONFIG.read_text())["scrape_configs"]
    configs = [config for job in jobs for config in job.get("static_configs", ())]
    targets = [target for config in configs for target in config["targets"]]

    assert f"server:{SERVER_PORT}" in targets
    assert f"exporter:{EXPORTER_PORT}" in targets


@pytest.mark.parametrize(
    ("command", "package"),
    [
        (["promtool", "check", "config", "prometheus.yml"], "prometheus"),
        (["amtool", "check-config", "alertmanager.yml"], "prometheus-alertmanager"),
    ],
)
def test_the_tool_finds_nothing(command: list[str], package: str) -> None:
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed (Debian package {package})")

    done = subprocess.run(
        command, cwd=CONFIG.parent, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_that_another_silences_exists() -> None:
    text = (CONFIG.parent / "alertmanager.yml").read_text()
    (rule,) = yaml.safe_load(text)["inhibit_rules"]
    named = re.findall(r"[A-Z]\w+", str(rule))
    model = load_model(CONFIG.parents[1] / "models", "qwen-1_8b-chat")

    assert len(named) > 2
    assert set(named) <= {alert.name for alert in alerts(model)}
