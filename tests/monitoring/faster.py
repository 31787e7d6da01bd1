"""The repository's own configuration, in a world where a minute is a second."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
_SECONDS = {"m": 1, "h": 60, "d": 1440}


def rules(model: str) -> str:
    """Give the rules with every window and wait 60 times as short."""
    found = yaml.safe_load((ROOT / f"monitoring/rules/{model}.yml").read_text())
    for rule in (rule for group in found["groups"] for rule in group["rules"]):
        rule["expr"] = re.sub(r"\[(\d+)([mhd])\]", _shorter, rule["expr"])
        if "for" in rule:
            rule["for"] = rule["for"].replace("m", "s")
    return yaml.safe_dump(found)


def _shorter(span: re.Match[str]) -> str:
    return f"[{int(span[1]) * _SECONDS[span[2]]}s]"


def prometheus(folder: Path, targets: dict[str, str], alertmanager: str) -> str:
    """Give `prometheus.yml` with `targets` by job, and the rules of `folder`."""
    found = yaml.safe_load((ROOT / "monitoring/prometheus.yml").read_text())
    found["global"] = {
        "scrape_interval": "1s",
        "scrape_timeout": "1s",
        "evaluation_interval": "1s",
    }
    found["rule_files"] = [str(folder / "rules.yml")]
    found["alerting"]["alertmanagers"] = [
        {"static_configs": [{"targets": [alertmanager]}]}
    ]
    jobs = [job for job in found["scrape_configs"] if job["job_name"] in targets]
    for job in jobs:
        job.pop("file_sd_configs", None)
        job["static_configs"] = [{"targets": [targets[job["job_name"]]]}]
    found["scrape_configs"] = jobs
    return yaml.safe_dump(found)


def alertmanager(webhook: str) -> str:
    """Give `alertmanager.yml` with a webhook in every receiver, and no patience."""
    found: dict[str, Any] = yaml.safe_load(
        (ROOT / "monitoring/alertmanager.yml").read_text()
    )
    found["route"] |= {"group_wait": "0s", "group_interval": "1s"}
    for receiver in found["receivers"]:
        receiver["webhook_configs"] = [{"url": webhook}]
    return yaml.safe_dump(found)
