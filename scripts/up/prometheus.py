"""Prometheus beside the embedded server, where it is installed: history and alerts."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import requests
import yaml

from bundle import host
from bundle.settings import PROMETHEUS_DIR, PROMETHEUS_PORT
from scripts.up.place import ROOT, VAR

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = VAR / "prometheus"
CONFIG = "prometheus.yml"
SOURCE = ROOT / "monitoring"
LOOPBACK = "127.0.0.1"
URL = f"http://{LOOPBACK}:{PROMETHEUS_PORT}/"
# No Alertmanager: it would have nobody to tell, and Prometheus itself shows what fires.
JOBS = ("engine", "exporter", "prometheus")


def prepare(
    model: str,
    folder: Path = FOLDER,
    path: str | None = None,
    port: int = PROMETHEUS_PORT,
) -> dict[str, str]:
    """Write what Prometheus reads, and give the variable that has it started.

    Nothing is given where it cannot run, which is no reason not to serve. `path` is
    where commands are looked for, as in the shell; None: where the shell looks.
    """
    if reason := _reason_not(path, port):
        print(f"without Prometheus, so neither history nor alerts: {reason}", flush=True)
        return {}
    folder.mkdir(parents=True, exist_ok=True)
    rules = SOURCE / f"rules/{model}.yml"
    (folder / CONFIG).write_text(configuration((SOURCE / CONFIG).read_text(), rules))
    if not rules.is_file():
        # Prometheus takes the missing file for an empty pattern, and is silent.
        print(f"Prometheus runs without alerts: {rules} is not there", flush=True)
    print(f"starting Prometheus; its log is {folder / 'prometheus.log'}", flush=True)
    return {PROMETHEUS_DIR: str(folder)}


def configuration(compose: str, rules: Path) -> str:
    """Give the `prometheus.yml` of compose with the addresses and rules of this host."""
    found: dict[str, Any] = yaml.safe_load(compose)
    del found["alerting"]
    found["rule_files"] = [str(rules)]
    jobs = [job for job in found["scrape_configs"] if job["job_name"] in JOBS]
    for group in (group for job in jobs for group in job["static_configs"]):
        group["targets"] = [_here(target) for target in group["targets"]]
    found["scrape_configs"] = jobs
    return "# Written by `make up`.\n" + yaml.safe_dump(found, sort_keys=False)


def is_up(folder: Path = FOLDER, url: str = URL) -> bool:
    """Whether the Prometheus that answers is ours, by the file that it reads."""
    try:
        answer = requests.get(f"{url}api/v1/status/flags", timeout=5).json()
        return bool(answer["data"]["config.file"] == str(folder / CONFIG))
    except (requests.RequestException, LookupError, TypeError):
        return False


def _reason_not(path: str | None, port: int) -> str:
    if not shutil.which("prometheus", path=path):
        return "it is not installed (apt-get install prometheus)"
    if reason := host.bind_error(LOOPBACK, port):
        # Debian's package starts one of its own.
        return f"port {port}: {reason} (systemctl disable --now prometheus?)"
    return ""


def _here(target: str) -> str:
    return f"{LOOPBACK}:{target.rpartition(':')[2]}"
