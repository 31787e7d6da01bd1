"""The NetworkPolicy admits exactly who must, and lets nothing out."""

from __future__ import annotations

import pytest

from bundle.settings import EXPORTER_PORT, SERVER_PORT
from tests.fixtures.chart import ALL, Json, manifests, of_kind

GUARDED = [case for case in ALL if case != "no-policy"]
PROMETHEUS = "namespace monitoring"


def admitted(case: str) -> dict[str, set[int]]:
    """Give who reaches the server's pods, with the ports that they reach."""
    (policy,) = of_kind(manifests(case), "NetworkPolicy")
    found: dict[str, set[int]] = {}
    for rule in policy["spec"]["ingress"]:
        assert rule["from"]  # none would be everybody
        for peer in rule["from"]:
            ports = {port["port"] for port in rule["ports"]}
            found.setdefault(_who(peer), set()).update(ports)
    return found


def _who(peer: Json) -> str:
    space = peer.get("namespaceSelector", {}).get("matchLabels", {})
    pod = peer.get("podSelector", {}).get("matchLabels", {})
    if space:
        return f"namespace {space['kubernetes.io/metadata.name']}"
    return str(pod.get("app.kubernetes.io/component", "any pod of the namespace"))


@pytest.mark.parametrize(
    ("case", "more"),
    [
        ("defaults", set()),
        ("cpu", set()),
        ("atlas-a2", {"gateway"}),
        ("atlas-950", {"namespace gateways", "namespace models"}),
        ("kthena", {"namespace kthena-system"}),
        ("cpu-routed", {"namespace models"}),
        ("cpu-behind-tls", {"gateway"}),
    ],
)
def test_it_admits_exactly_who_must(case: str, more: set[str]) -> None:
    assert admitted(case) == {
        **{who: {SERVER_PORT} for who in ("smoke", *more)},
        PROMETHEUS: {SERVER_PORT, EXPORTER_PORT},
    }


def test_values_name_others() -> None:
    assert admitted("other-clients") == {
        "smoke": {SERVER_PORT},
        "any pod of the namespace": {SERVER_PORT},
    }


@pytest.mark.parametrize("case", GUARDED)
def test_the_server_gets_out_nowhere(case: str) -> None:
    (policy,) = of_kind(manifests(case), "NetworkPolicy")

    assert policy["spec"]["egress"] == []
    assert policy["spec"]["policyTypes"] == ["Ingress", "Egress"]


@pytest.mark.parametrize("case", GUARDED)
def test_every_pod_has_its_policy(case: str) -> None:
    found = manifests(case)
    components = {
        one["metadata"]["labels"]["app.kubernetes.io/component"]
        for one in found
        if one["kind"] in {"Deployment", "Pod"}
    }

    for component in components:
        assert len(of_kind(found, "NetworkPolicy", component)) == 1


def test_there_is_none_where_it_is_off() -> None:
    assert not of_kind(manifests("no-policy"), "NetworkPolicy")
