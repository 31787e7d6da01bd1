"""Every metric and label that a rule or a dashboard names is one that somebody exposes.

A stale name is never an error: the query matches nothing, and the panel says "no data".
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from tests.fixtures.promql import Selector, grouped, selectors

ROOT = Path(__file__).parents[3]
FIXTURES = ROOT / "tests/fixtures"
DASHBOARDS = sorted((ROOT / "monitoring/grafana").rglob("*.json"))
RULES = sorted((ROOT / "monitoring/rules").glob("*.yml"))
PAGES = ("exporter-page.txt", "npu-exporter.txt", "vllm-metrics/0.23.0.txt")

# What Prometheus itself adds.
OWN = {"up": set(), "ALERTS": {"alertname", "alertstate", "severity"}}
TARGET = {"job", "instance"}


def exposed() -> dict[str, set[str]]:
    """Give the labels of every series on a recorded page, and of Prometheus' own."""
    found: dict[str, set[str]] = {name: set(labels) for name, labels in OWN.items()}
    for page in PAGES:
        for line in (FIXTURES / page).read_text().splitlines():
            if match := re.match(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})? ", line):
                labels = re.findall(r'(\w+)="', match[2] or "")
                found.setdefault(match[1], set()).update(labels)
    return found


def recorded() -> set[str]:
    """Give the names that the rules record."""
    groups = [one for path in RULES for one in yaml.safe_load(path.read_text())["groups"]]
    return {rule["record"] for one in groups for rule in one["rules"] if "record" in rule}


def expressions() -> list[tuple[str, str]]:
    """Give every expression with where it stands."""
    found = []
    for path in RULES:
        for one in yaml.safe_load(path.read_text())["groups"]:
            found += [
                (f"{path.stem} {rule.get('alert') or rule['record']}", rule["expr"])
                for rule in one["rules"]
            ]
    for path in DASHBOARDS:
        for panel in json.loads(path.read_text())["panels"]:
            found += [
                (f"{path.stem} {panel['title']}", target["expr"])
                for target in panel["targets"]
            ]
    return found


@pytest.mark.parametrize(("where", "expr"), expressions())
def test_every_name_and_label_exists(where: str, expr: str) -> None:
    known, rules = exposed(), recorded()
    labels = set().union(*known.values()) | TARGET

    assert selectors(expr) or expr == "vector(1)", where
    for one in selectors(expr):
        assert one.name in rules or one.name in known, where
        if one.name in known:
            assert one.labels <= known[one.name] | TARGET, where
    assert grouped(expr) <= labels | {"npu"}, where


@pytest.mark.parametrize(
    ("expr", "names"),
    [
        ("up == 0", {Selector("up", frozenset())}),
        (
            'sum by (le) (rate(a_bucket{le="1.0",job=~"b"}[5m])) > 2',
            {Selector("a_bucket", frozenset({"le", "job"}))},
        ),
        (
            'label_replace(a / 1e3, "npu", "$1", "id", "(.+)") unless on () b:c',
            {Selector("a", frozenset()), Selector("b:c", frozenset())},
        ),
        ("vector(1)", set()),
        ("time() - max(a)", {Selector("a", frozenset())}),
        ("rate(a[$__rate_interval])", {Selector("a", frozenset())}),
    ],
)
def test_names_are_found(expr: str, names: set[Selector]) -> None:
    assert names == selectors(expr)
