"""Every manifest is what Kubernetes and the operators take; no cluster is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import helm_python
import pytest
from jsonschema import Draft202012Validator
from kubernetes_validate import utils

from tests.fixtures.chart import ALL, CHART, Json, manifests

CRDS = Path(__file__).parents[2] / "fixtures/crds"
MINORS = list(dict.fromkeys(utils.all_versions()))[-3:]  # it names each twice
CUSTOM = {
    (found["apiVersion"], found["kind"]): found["schema"]
    for found in map(json.loads, (path.read_text() for path in CRDS.glob("*.json")))
}


def once(*, custom: bool) -> list[Json]:
    """Give every manifest once, whatever renders it."""
    found = {json.dumps(one): one for case in ALL for one in manifests(case)}
    return [
        one
        for one in found.values()
        if ((one["apiVersion"], one["kind"]) in CUSTOM) is custom
    ]


def closed(schema: Any) -> Any:  # noqa: ANN401 - any node of a schema
    """Refuse unknown fields, where a cluster would drop them without a word."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: closed(one) for key, one in schema.items()}
    open_ended = {"additionalProperties", "x-kubernetes-preserve-unknown-fields"}
    if isinstance(found.get("properties"), dict) and not open_ended & found.keys():
        found["additionalProperties"] = False
    return found


@pytest.mark.parametrize("minor", MINORS)
def test_kubernetes_takes_every_manifest(minor: str) -> None:
    found = once(custom=False)

    assert found
    for one in found:
        utils.validate(one, minor, strict=True)


def test_the_operators_take_every_custom_resource() -> None:
    found = once(custom=True)

    assert {one["kind"] for one in found} == {kind for _, kind in CUSTOM}
    for one in found:
        schema = closed(CUSTOM[one["apiVersion"], one["kind"]])
        schema["properties"]["metadata"] = {"type": "object"}
        Draft202012Validator(schema).validate(one)


def test_an_unknown_field_of_a_custom_resource_is_seen() -> None:
    (one, *_) = [one for one in once(custom=True) if one["kind"] == "PodMonitor"]
    one["spec"]["podMetricsEndpoint"] = one["spec"].pop("podMetricsEndpoints")
    schema = closed(CUSTOM[one["apiVersion"], one["kind"]])
    found = {error.validator for error in Draft202012Validator(schema).iter_errors(one)}

    assert "additionalProperties" in found


@pytest.mark.parametrize("case", ALL)
def test_helm_lint_has_nothing_to_say(case: str) -> None:
    report = helm_python.lint(CHART, ALL[case], strict=True)
    worse = [one for one in report["messages"] if one["severity"] > 1]

    assert worse == report["errors"] == []
