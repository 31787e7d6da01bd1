"""Cards, the driver's files, and who waits for a card."""

from __future__ import annotations

import math

import pytest

from tests.fixtures.chart import (
    ALL,
    containers,
    environ,
    manifests,
    of_kind,
    pods,
    server,
)

every = pytest.mark.parametrize("case", ALL)


@every
def test_a_pod_asks_for_as_many_cards_as_its_engine_spans(case: str) -> None:
    values = ALL[case]
    family = values.get("family", "atlas-a2")
    containers_ = [one for one in containers(server(case)) if one["name"] != "exporter"]
    asked = [
        {k: v for k, v in one["resources"]["limits"].items() if "/" in k}
        for one in containers_
    ]
    env = environ(containers_[-1])
    sizes = (env[f"BUNDLE_{kind}_PARALLEL_SIZE"] for kind in ("TENSOR", "DATA"))
    count = max(math.prod(map(int, sizes)), values.get("npu", {}).get("count", 0))
    names = {
        "atlas-a2": "huawei.com/Ascend910",
        "atlas-a3": "huawei.com/Ascend910",
        "atlas-310p": "huawei.com/Ascend310P",
        "atlas-a5": "huawei.com/npu",
    }
    name = values.get("npu", {}).get("resource") or names.get(family)

    assert all(cards == ({name: count} if name else {}) for cards in asked)
    assert all(
        one["resources"]["requests"].get(name) == one["resources"]["limits"].get(name)
        for one in containers_
    )


@every
def test_only_the_server_sees_the_node_and_only_the_driver(case: str) -> None:
    family = ALL[case].get("family", "atlas-a2")
    for labels, spec in pods(manifests(case)):
        paths = [v["hostPath"]["path"] for v in spec["volumes"] if "hostPath" in v]
        own = labels["app.kubernetes.io/component"] == "server" and family != "cpu"
        assert bool(paths) is own
        for one in containers(spec):
            for mount in one["volumeMounts"]:
                if mount["name"] in {"driver", "driver-version", "dcmi", "npu-smi"}:
                    assert mount["readOnly"] is True
                    assert one["name"] in {"doctor", "server"}


@every
def test_a_new_pod_never_waits_for_the_card_of_the_old_one(case: str) -> None:
    (found,) = of_kind(manifests(case), "Deployment")
    strategy = found["spec"]["strategy"]
    several = found["spec"].get("replicas", 2) > 1

    assert strategy["type"] == ("RollingUpdate" if several else "Recreate")
    if several:
        assert strategy["rollingUpdate"] == {"maxSurge": 0, "maxUnavailable": 1}
    assert bool(of_kind(manifests(case), "PodDisruptionBudget")) is several
    assert ("topologySpreadConstraints" in server(case)) is several
    assert ("replicas" in found["spec"]) is not bool(
        of_kind(manifests(case), "ScaledObject")
    )


def test_volcano_gives_the_cards_only_where_it_notes_them() -> None:
    whole, share = (server(case) for case in ("volcano", "whole-card-volcano-vnpu"))
    named = [
        [one["name"] for one in spec["containers"][0]["env"]] for spec in (whole, share)
    ]

    assert whole["schedulerName"] == share["schedulerName"] == "volcano"
    assert "ASCEND_VISIBLE_DEVICES" in named[0]
    assert "ASCEND_VISIBLE_DEVICES" not in named[1]
    assert not any(
        "ASCEND_VISIBLE_DEVICES" in str(server(c)) for c in ALL if c != "volcano"
    )
