"""Every alert against promtool: fires when it should, and only then."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from bundle.model import load_model
from monitoring.rules import file
from tests.unit.monitoring.rule_cases import CASES, Case

if TYPE_CHECKING:
    from monitoring.rules.form import Alert

ROOT = Path(__file__).parents[3]
MODEL = load_model(ROOT / "models", "qwen-1_8b-chat")
ALERTS = {alert.name: alert for alert in file.alerts(MODEL)}

pytestmark = pytest.mark.skipif(
    not shutil.which("promtool"),
    reason="promtool is not installed (Debian package prometheus)",
)


def promtool(*words: str) -> None:
    done = subprocess.run(
        ["/usr/bin/promtool", *words], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("alert", ALERTS)
def test_it_fires_when_it_should_and_only_then(alert: str, tmp_path: Path) -> None:
    cases = [case for case in CASES if case.alert == alert]
    assert any(case.fires for case in cases)
    assert any(not case.fires for case in cases) or alert == "Watchdog"
    rules, tests = tmp_path / "rules.yml", tmp_path / "tests.yml"
    rules.write_text(file.text(MODEL))
    tests.write_text(
        yaml.safe_dump(
            {"rule_files": [str(rules)], "tests": [as_test(case) for case in cases]}
        )
    )

    promtool("test", "rules", str(tests))


def as_test(case: Case) -> dict[str, Any]:
    """Give the case as promtool has it."""
    firing = f'ALERTS{{alertname="{case.alert}",alertstate="firing"}}'
    ever = f"count by (severity) (count_over_time({firing}[2d]))"
    now = f"count by (severity) ({firing})"
    return {
        "name": case.why,
        "interval": case.interval,
        "input_series": [
            {"series": name, "values": values} for name, values in case.series.items()
        ],
        "promql_expr_test": [
            {
                "expr": now if case.fires else ever,
                "eval_time": case.at,
                "exp_samples": [
                    {"labels": f'{{severity="{severity}"}}', "value": count}
                    for severity, count in case.fires.items()
                ],
            }
        ],
    }


@pytest.mark.parametrize("path", sorted((ROOT / "monitoring/rules").glob("*.yml")))
def test_promtool_finds_nothing_in_the_rules(path: Path) -> None:
    promtool("check", "rules", str(path))


def test_every_alert_has_its_heading_in_the_runbook_and_no_other_is_there() -> None:
    runbook = (ROOT / "docs/runbook.md").read_text()
    section = re.split(r"^# ", runbook.partition("\n# Alerts\n")[2], flags=re.MULTILINE)[
        0
    ]
    headings = set(re.findall(r"^## (.+)$", section, re.MULTILINE))

    assert headings == set(ALERTS)


@pytest.mark.parametrize("alert", ALERTS.values(), ids=lambda alert: alert.name)
def test_what_a_user_feels_is_a_sentence(alert: Alert) -> None:
    assert alert.felt[0].isupper()
    assert alert.felt.endswith(".")
    assert alert.severity in {"page", "ticket"} or alert.name == "Watchdog"
