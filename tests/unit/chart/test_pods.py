"""Every pod is hardened, well named and stopped in time, whatever the values are."""

from __future__ import annotations

import json
import re

import pytest

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

HEALTH = ["/opt/bundle/.venv/bundle/bin/python", "-m", "scripts.health"]

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
