"""Give the chart's values, schema, facts and page from `values.py`."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import yaml

from bundle.model import Family, load_model
from bundle.settings import EXPORTER_PORT, GATEWAY_PORT, SERVER_PORT
from entrypoint.__main__ import STOP_MARGIN_SECONDS
from scripts.up.ascend import SUFFIXES
from tests.chart.form import Values
from tests.chart.values import Chart

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/kubernetes.md"

# MindCluster's name of the resource, and its label of a node.
NPUS = {
    "atlas-a2": ("huawei.com/Ascend910", "huawei-Ascend910"),
    "atlas-a3": ("huawei.com/Ascend910", "huawei-Ascend910"),
    "atlas-310p": ("huawei.com/Ascend310P", "huawei-Ascend310P"),
    "atlas-a5": ("huawei.com/npu", "huawei-npu"),
}
# A guess to start from: the weights pass through memory, graphs are compiled by CPUs.
_CPUS, _NPU_MEMORY, _CPU_MEMORY = "4", ("16Gi", "32Gi"), ("10Gi", "12Gi")


def facts() -> str:
    """Give what templates read of the bundle's code."""
    names = sorted(path.parent.name for path in (ROOT / "models").glob("*/model.yaml"))
    models = {name: load_model(ROOT / "models", name) for name in names}
    found = {
        "ports": {
            "server": SERVER_PORT,
            "exporter": EXPORTER_PORT,
            "gateway": GATEWAY_PORT,
        },
        "stopMarginSeconds": STOP_MARGIN_SECONDS,
        "families": {family: _family(family) for family in get_args(Family)},
        "models": {name: sorted(model.serving) for name, model in models.items()},
    }
    head = "# Written by `make generate` from tests/chart/generate.py.\n"
    return head + yaml.safe_dump(found, sort_keys=False)


def _family(family: Family) -> dict[str, Any]:
    resource, label = NPUS.get(family, ("", ""))
    asked, limit = _CPU_MEMORY if family == "cpu" else _NPU_MEMORY
    return {
        "suffix": "-cpu" if family == "cpu" else SUFFIXES[family],
        "resource": resource,
        "accelerator": label,
        # The 950's HCCL reads topology files beside lib64.
        "wholeDriver": family == "atlas-a5",
        "bfloat16": family != "atlas-310p",
        "resources": {
            "requests": {"cpu": _CPUS, "memory": asked},
            "limits": {"memory": limit},
        },
    }


def schema() -> str:
    """Give `values.schema.json`; an unknown key is refused at every level."""
    found = Chart.model_json_schema(by_alias=True)
    return json.dumps(_without_titles(found), indent=2, ensure_ascii=False) + "\n"


def _without_titles(node: object) -> object:
    """Leave out the titles that pydantic makes of names."""
    if isinstance(node, list):
        return [_without_titles(one) for one in node]
    if not isinstance(node, dict):
        return node
    kept = {key: one for key, one in node.items() if not _is_title(key, one)}
    return {key: _without_titles(one) for key, one in kept.items()}


def _is_title(key: str, value: object) -> bool:
    return key == "title" and isinstance(value, str)


def values() -> str:
    """Give `values.yaml`: every value with its default and what it is for."""
    head = ["# Every value. Written by `make generate` from tests/chart/values.py."]
    return "\n".join([*head, *_values(Chart())]) + "\n"


def _values(of: Values) -> Iterator[str]:
    for name, field in type(of).model_fields.items():
        value = getattr(of, name)
        nested = isinstance(value, Values)
        said = type(value).__doc__ if nested else field.description
        yield ""
        yield from (f"# {line}" for line in textwrap.wrap(said or "", 86))
        if nested:
            yield f"{field.alias}:"
            yield from textwrap.indent("\n".join(_values(value)), "  ").splitlines()
        else:
            yield yaml.safe_dump({field.alias: value}, allow_unicode=True).rstrip()


def page() -> str:
    """Give `docs/kubernetes.md`: what is written there, and the table at its end."""
    text, heading, _ = PAGE.read_text().partition("\n## Values\n")
    table = "| value | default | what it is for |\n|---|---|---|\n"
    return f"{text}{heading}\n{table}" + "\n".join(_rows(Chart(), "")) + "\n"


def _rows(of: Values, path: str) -> Iterator[str]:
    for name, field in type(of).model_fields.items():
        value = getattr(of, name)
        if isinstance(value, Values):
            yield from _rows(value, f"{path}{field.alias}.")
        else:
            default = json.dumps(value, ensure_ascii=False)
            yield f"| `{path}{field.alias}` | `{default}` | {field.description} |"
