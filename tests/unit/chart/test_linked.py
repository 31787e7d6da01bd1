"""What is found by labels or names, and what is compose's own file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.fixtures.chart import ALL, ROOT, environ, manifests, of_kind, pods, server
from tests.fixtures.promql import selectors

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = (ROOT / "tests/fixtures/exporter-page.txt").read_text()

every = pytest.mark.parametrize("case", ALL)


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


def test_the_chart_links_no_secret_of_the_gateway() -> None:
    linked = [path for path in Path(ROOT / "chart/files").iterdir() if path.is_symlink()]

    assert {path.resolve().name for path in linked} == {
        "dashboards",
        "rules",
        "nginx.conf",
        "start.sh",
    }
