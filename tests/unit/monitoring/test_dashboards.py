"""Dashboards that Grafana takes from files, and that say something when idle."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitoring.dashboards.files import DASHBOARDS, text

ROOT = Path(__file__).parents[3]
NAMES = sorted(DASHBOARDS)


def panels(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(text(name))["panels"]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_every_panel_has_title_description_unit_and_words_for_nothing(name: str) -> None:
    for panel in panels(name):
        assert panel["title"]
        assert panel["description"].endswith(".")
        assert panel["fieldConfig"]["defaults"]["unit"]
        assert panel["fieldConfig"]["defaults"]["noValue"]
        assert panel["targets"]


@pytest.mark.parametrize("name", NAMES)
def test_the_data_source_is_a_variable_and_nothing_is_an_input(name: str) -> None:
    board = json.loads(text(name))
    (variable,) = board["templating"]["list"]

    assert (variable["name"], variable["type"]) == ("datasource", "datasource")
    assert "__inputs" not in board
    assert "id" not in board
    uids = set(re.findall(r'"uid": "([^"]*)"', text(name)))
    assert uids == {board["uid"], "${datasource}"}


@pytest.mark.parametrize("name", NAMES)
def test_panels_do_not_overlap_and_fill_the_width(name: str) -> None:
    taken: dict[int, int] = {}
    for panel in panels(name):
        place = panel["gridPos"]
        assert place["x"] == taken.get(place["y"], 0)
        taken[place["y"]] = place["x"] + place["w"]

    assert set(taken.values()) == {24}


@pytest.mark.parametrize("name", NAMES)
def test_every_counter_is_read_by_its_rate(name: str) -> None:
    for panel in panels(name):
        for target in panel["targets"]:
            counters = re.findall(r"\w+_total\b", target["expr"])
            rates = re.findall(r"(?:rate|increase)\(\w+_total\b", target["expr"])
            assert len(counters) == len(rates), panel["title"]


def test_uids_and_titles_are_each_there_once() -> None:
    boards = [json.loads(text(name)) for name in NAMES]

    for key in ("uid", "title"):
        assert len({board[key] for board in boards}) == len(boards)


def test_every_expression_is_promql(tmp_path: Path) -> None:
    if not shutil.which("promtool"):
        pytest.skip("promtool is not installed (Debian package prometheus)")
    exprs = [
        target["expr"].replace("$__rate_interval", "1m")
        for name in NAMES
        for panel in panels(name)
        for target in panel["targets"]
    ]
    rules = [{"record": f"r{i}", "expr": expr} for i, expr in enumerate(exprs)]
    path = tmp_path / "rules.yml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "all", "rules": rules}]}))

    done = subprocess.run(
        ["/usr/bin/promtool", "check", "rules", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
