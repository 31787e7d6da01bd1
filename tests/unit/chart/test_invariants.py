"""What holds in every render, whatever the values are."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from bundle.settings import EXPORTER_PORT, GATEWAY_PORT, SERVER_PORT, load
from entrypoint.__main__ import STOP_MARGIN_SECONDS
from scripts.health import PROBES
from tests.fixtures.chart import (
    ALL,
    ROOT,
    Json,
    containers,
    environ,
    manifests,
    of_kind,
    pods,
    server,
)
from tests.fixtures.promql import selectors

if TYPE_CHECKING:
    from collections.abc import Iterator

HEALTH = ["/opt/bundle/.venv/bundle/bin/python", "-m", "scripts.health"]
PAGE = (ROOT / "tests/fixtures/exporter-page.txt").read_text()

every = pytest.mark.parametrize("case", ALL)


def all_containers(case: str) -> list[Json]:
    """Give every container of every pod."""
    return [one for _, spec in pods(manifests(case)) for one in containers(spec)]


@every
def test_nothing_runs_as_root_or_may_more_than_it_needs(case: str) -> None:
    for _, spec in pods(manifests(case)):
        who = spec["securityContext"]
        assert (who["runAsUser"], who["runAsGroup"], who["fsGroup"]) == (1000, 1000, 1000)
        assert who["runAsNonRoot"] is True
        assert who["seccompProfile"] == {"type": "RuntimeDefault"}
        assert spec["automountServiceAccountToken"] is False
        assert spec["enableServiceLinks"] is False
        assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys()
    for container in all_containers(case):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


@every
def test_every_image_has_a_tag_or_digest(case: str) -> None:
    for container in all_containers(case):
        name = container["image"].rpartition("/")[2]
        assert re.fullmatch(r"[\w.-]+(:[\w.-]+|@sha256:[0-9a-f]{64})", name)
        assert not name.endswith(":latest")


@every
def test_every_container_says_what_it_needs(case: str) -> None:
    for container in all_containers(case):
        assert {"cpu", "memory"} & container["resources"]["requests"].keys()
        assert "memory" in container["resources"]["limits"]


@every
def test_every_mount_has_its_volume_and_every_volume_a_mount(case: str) -> None:
    for _, spec in pods(manifests(case)):
        mounts = [m["name"] for one in containers(spec) for m in one["volumeMounts"]]
        names = [volume["name"] for volume in spec["volumes"]]
        assert set(mounts) == set(names)
        assert len(names) == len(set(names))
        for one in containers(spec):
            paths = [mount["mountPath"] for mount in one["volumeMounts"]]
            assert len(paths) == len(set(paths))


@every
def test_the_probes_are_the_image_s_own_health(case: str) -> None:
    spec = server(case)
    container = spec["containers"][0]
    kinds = {"startup": "startup", "ready": "readiness", "live": "liveness"}
    dockerfile = (ROOT / "Dockerfile").read_text()

    assert set(kinds) == set(PROBES)
    for word, kind in kinds.items():
        assert container[f"{kind}Probe"]["exec"]["command"] == [*HEALTH, word]
    assert f"CMD {json.dumps([*HEALTH, 'ready'])}" in dockerfile
    startup = container["startupProbe"]
    assert startup["failureThreshold"] * startup["periodSeconds"] >= 900
    assert container["lifecycle"]["preStop"]["exec"]["command"][0] == "sleep"


@every
def test_the_grace_period_holds_what_happens_in_it(case: str) -> None:
    spec = server(case)
    container = spec["containers"][0]
    pause = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
    drain = int(environ(container)["BUNDLE_DRAIN_SECONDS"])

    assert spec["terminationGracePeriodSeconds"] >= pause + drain + STOP_MARGIN_SECONDS


@every
def test_every_setting_is_one_that_the_bundle_takes(case: str) -> None:
    for _, spec in pods(manifests(case)):
        for one in containers(spec):
            if one["name"] != "gateway":
                load(environ(one))  # refuses an unknown name and a wrong value


@every
def test_ports_match(case: str) -> None:
    found = manifests(case)
    ours = {"http": SERVER_PORT, "exporter": EXPORTER_PORT, "gateway": GATEWAY_PORT}
    known = {
        port["name"]: port["containerPort"]
        for one in all_containers(case)
        for port in one.get("ports", [])
    }

    assert known.items() <= ours.items()
    for service in (one for one in found if one["kind"] == "Service"):
        for port in service["spec"]["ports"]:
            assert port["port"] == known[port["targetPort"]]
    for monitor in of_kind(found, "PodMonitor"):
        for end in monitor["spec"]["podMetricsEndpoints"]:
            assert end["port"] in known
    for route in of_kind(found, "HTTPRoute"):
        for rule in route["spec"]["rules"]:
            assert {ref.get("port", SERVER_PORT) for ref in rule["backendRefs"]} == {
                SERVER_PORT
            }


def _selected(node: Any) -> Iterator[dict[str, str]]:  # noqa: ANN401 - any node
    """Give every selector of ours that stands in a manifest."""
    if isinstance(node, dict):
        for key, value in node.items():
            labels = value.get("matchLabels", value) if isinstance(value, dict) else {}
            if key in {"selector", "podSelector", "workloadSelector", "labelSelector"}:
                if "app.kubernetes.io/instance" in labels:
                    yield labels
            else:
                yield from _selected(value)
    elif isinstance(node, list):
        for one in node:
            yield from _selected(one)


@every
def test_every_selector_matches_a_pod_and_only_one_kind_of_pod(case: str) -> None:
    found = manifests(case)
    asked = [labels for one in found for labels in _selected(one)]

    assert len(asked) >= 2
    for labels in asked:
        matched = [pod for pod, _ in pods(found) if labels.items() <= pod.items()]
        assert len(matched) == 1


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


@pytest.mark.parametrize(
    "case", [c for c in ALL if of_kind(manifests(c), "ScaledObject")]
)
def test_the_scaler_asks_for_sums_of_what_the_exporter_shows(case: str) -> None:
    (found,) = of_kind(manifests(case), "ScaledObject")
    queries = [one["metadata"] for one in found["spec"]["triggers"]]

    assert found["spec"]["fallback"]["replicas"] >= 1
    assert len(queries) == 2
    for query in queries:
        (one,) = selectors(query["query"])
        assert re.search(rf"^{one.name}{{", PAGE, re.MULTILINE)
        assert query["query"].startswith(f"sum({one.name}{{")
        # Given by the operator to every target, and by podTargetLabels.
        assert one.labels == {"namespace", "app_kubernetes_io_instance"}
        assert query["ignoreNullValues"] == "false"
    (monitor,) = of_kind(manifests(case), "PodMonitor")
    assert monitor["spec"]["podTargetLabels"] == ["app.kubernetes.io/instance"]


@pytest.mark.parametrize("case", [c for c in ALL if of_kind(manifests(c), "PodMonitor")])
def test_rules_dashboards_and_jobs_are_those_of_the_compose_stack(case: str) -> None:
    found = manifests(case)
    (rules,) = of_kind(found, "PrometheusRule")
    (monitor,) = of_kind(found, "PodMonitor")
    (dashboards,) = [c for c in of_kind(found, "ConfigMap") if "grafana" in str(c)]
    model = environ(server(case)["containers"][0])["BUNDLE_MODEL"]
    folder = ROOT / "monitoring/grafana/provisioning/dashboards"
    ours = yaml.safe_load((ROOT / "monitoring/prometheus.yml").read_text())
    jobs = {one["job_name"] for one in ours["scrape_configs"]}
    named = {
        relabel["replacement"]
        for end in monitor["spec"]["podMetricsEndpoints"]
        for relabel in end["relabelings"]
    }

    text = (ROOT / f"monitoring/rules/{model}.yml").read_text()
    assert rules["spec"] == yaml.safe_load(text)
    assert dashboards["data"] == {
        path.name: path.read_text() for path in folder.glob("*.json")
    }
    assert dashboards["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert named == {"engine", "exporter"} <= jobs


def test_the_gateway_is_compose_s_but_for_two_names() -> None:
    (files,) = of_kind(manifests("cpu-behind-tls"), "ConfigMap", "gateway")
    ours = (ROOT / "gateway/nginx.conf").read_text().splitlines()
    theirs = files["data"]["nginx.conf"].splitlines()
    changed = [line.strip() for line in theirs if line not in ours]

    assert len(ours) == len(theirs)
    assert changed == [
        "# The cluster's name server: a server that is made anew has another address.",
        "resolver kube-dns.kube-system.svc.cluster.local valid=10s;",
        "set $server chat.models.svc.cluster.local:8000;",
    ]
    assert files["data"]["start.sh"] == (ROOT / "gateway/start.sh").read_text()


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


def test_the_chart_links_no_secret_of_the_gateway() -> None:
    linked = [path for path in Path(ROOT / "chart/files").iterdir() if path.is_symlink()]

    assert {path.resolve().name for path in linked} == {
        "dashboards",
        "rules",
        "nginx.conf",
        "start.sh",
    }
