"""Cards, the driver's files, and who waits for a card."""

from __future__ import annotations

import math

import pytest

from tests.fixtures.chart import (
    ALL,
    containers,
    manifests,
    of_kind,
    pods,
    server,
)

every = pytest.mark.parametrize("case", ALL)


RESOURCES = {
    "atlas-a2": "huawei.com/Ascend910",
    "atlas-a3": "huawei.com/Ascend910",
    "atlas-310p": "huawei.com/Ascend310P",
    "atlas-a5": "huawei.com/npu",
}


def cards(case: str) -> dict[str, int]:
    """Give what a case must ask of the device plugin."""
    values = ALL[case]
    settings, npu = values.get("settings", {}), values.get("npu", {})
    family = values.get("family", "atlas-a2")
    sizes = (settings.get(f"{kind}ParallelSize", 1) for kind in ("tensor", "data"))
    count = max(math.prod(sizes), npu.get("count", 0))
    name = npu.get("resource") or RESOURCES.get(family)
    return {name: count} if name else {}


@every
def test_a_pod_asks_for_as_many_cards_as_its_engine_spans(case: str) -> None:
    for one in containers(server(case)):
        for asked in one["resources"].values():
            found = {name: count for name, count in asked.items() if "/" in name}
            assert found == (cards(case) if one["name"] != "exporter" else {})


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
    whole, share = (server(case) for case in ("volcano", "volcano-vnpu"))
    named = [
        [one["name"] for one in spec["containers"][0]["env"]] for spec in (whole, share)
    ]

    assert whole["schedulerName"] == share["schedulerName"] == "volcano"
    assert "ASCEND_VISIBLE_DEVICES" in named[0]
    assert "ASCEND_VISIBLE_DEVICES" not in named[1]
    assert not any(
        "ASCEND_VISIBLE_DEVICES" in str(server(c)) for c in ALL if c != "volcano"
    )
