"""Every value of the chart does something, and the README's lines are true."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING

import helm_python
import pytest
import yaml

from tests.fixtures.chart import ALL, CHART, ROOT, Json, manifests, render

if TYPE_CHECKING:
    from collections.abc import Iterator

# Only the refusals read it.
CHECKED = {"images.engine"}


def leaves(node: Json, path: str = "") -> Iterator[str]:
    """Give the names of all values; a folder of values is none."""
    for key, value in node.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, f"{path}{key}.")
        else:
            yield f"{path}{key}"


def without(values: Json, path: str) -> Json:
    """Give `values` with the default of one."""
    found = copy.deepcopy(values)
    *folders, last = path.split(".")
    inner = found
    for folder in folders:
        inner = inner.get(folder, {})
    inner.pop(last, None)
    return found


def has_effect(path: str) -> bool:
    """Whether some case renders otherwise, or is refused, without this value of it."""
    for case, values in ALL.items():
        less = without(values, path)
        if less == values:
            continue
        try:
            if render(less) != manifests(case):
                return True
        except helm_python.HelmError:
            return True
    return False


DEFAULTS = yaml.safe_load((CHART / "values.yaml").read_text())


@pytest.mark.parametrize("path", sorted(set(leaves(DEFAULTS)) - CHECKED))
def test_every_value_has_an_effect(path: str) -> None:
    assert has_effect(path)


def test_the_chart_has_the_version_of_the_bundle() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    project = (ROOT / "pyproject.toml").read_text()

    assert f'version = "{chart["version"]}"' in project
    assert chart["appVersion"] == chart["version"]


def test_the_page_names_every_example() -> None:
    page = (ROOT / "docs/kubernetes.md").read_text()

    for path in (CHART / "examples").glob("*.yaml"):
        assert f"(../chart/examples/{path.name})" in page


def test_a_package_has_what_the_links_lead_to(tmp_path: Path) -> None:
    packed = Path(helm_python.package(CHART, destination=tmp_path))
    unpacked = helm_python.Chart.load_archive(packed.read_bytes())
    named: Json = {"name": "chat", "namespace": "models"}
    watched = ALL["cpu-watched"]

    assert unpacked.render(watched, **named) == helm_python.Chart.load(CHART).render(
        watched, **named
    )
