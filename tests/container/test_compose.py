"""The compose files as data; needs Compose, but no Docker daemon."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from bundle.settings import (
    ALERTMANAGER_PORT,
    EXPORTER_PORT,
    GATEWAY_PORT,
    GRAFANA_PORT,
    PROMETHEUS_PORT,
    SERVER_PORT,
    Settings,
    variables,
)
from entrypoint.__main__ import STOP_MARGIN_SECONDS
from tests.container.engine import COMPOSE, ROOT, good

FILES = {
    "ascend": ["-f", "compose.yaml"],
    "cpu": ["-f", "compose.yaml", "-f", "compose.cpu.yaml"],
}


@pytest.fixture(params=sorted(FILES))
def services(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Give the services of one stack, as Compose reads them."""
    if not Path(COMPOSE).exists():
        pytest.skip("Compose is not installed beside this Python")
    profiles = ["--profile", "smoke", "--profile", "gateway"]
    words = [*FILES[request.param], *profiles, "config", "--format", "json"]
    found: dict[str, Any] = json.loads(good(COMPOSE, *words))
    return dict(found["services"])


def test_every_service_is_hardened(services: dict[str, Any]) -> None:
    for name, service in services.items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert "privileged" not in service, name
        assert service.get("network_mode") is None, name


def test_ports_are_published_on_loopback_only(services: dict[str, Any]) -> None:
    ports = [port for service in services.values() for port in service.get("ports", [])]

    assert {port["host_ip"] for port in ports} == {"127.0.0.1"}
    targets = {port["target"] for port in ports}
    ours = {SERVER_PORT, EXPORTER_PORT, GATEWAY_PORT}
    assert targets == ours | {PROMETHEUS_PORT, ALERTMANAGER_PORT, GRAFANA_PORT}


def test_the_grace_period_is_longer_than_drain_and_margin(
    services: dict[str, Any],
) -> None:
    drain = Settings.model_fields["drain_seconds"].default

    assert services["server"]["stop_grace_period"] == "1m0s"
    assert drain + STOP_MARGIN_SECONDS < 60


def test_only_the_server_has_devices(services: dict[str, Any]) -> None:
    for name, service in services.items():
        assert name == "server" or not service.get("devices")


def test_only_the_gateway_has_a_secret(services: dict[str, Any]) -> None:
    with_secret = [name for name, service in services.items() if service.get("secrets")]

    assert with_secret == ["gateway"]


def test_what_is_mounted_from_here_is_here(services: dict[str, Any]) -> None:
    mounts = [mount for s in services.values() for mount in s.get("volumes", [])]
    here = [mount["source"] for mount in mounts if mount["source"].startswith(str(ROOT))]

    assert here
    assert [source for source in here if not Path(source).exists()] == []


def test_every_setting_that_is_passed_exists(services: dict[str, Any]) -> None:
    passed = {key for s in services.values() for key in s.get("environment") or {}}

    assert {key for key in passed if key.startswith("BUNDLE_")} <= set(variables())


def test_grafana_asks_the_prometheus_of_the_stack(services: dict[str, Any]) -> None:
    folder = ROOT / "monitoring/grafana/provisioning"
    (source,) = yaml.safe_load((folder / "datasources/prometheus.yml").read_text())[
        "datasources"
    ]
    (provider,) = yaml.safe_load((folder / "dashboards/bundle.yml").read_text())[
        "providers"
    ]
    targets = [mount["target"] for mount in services["grafana"]["volumes"]]

    assert source["url"] == f"http://prometheus:{PROMETHEUS_PORT}"
    assert provider["options"]["path"] == f"{targets[0]}/dashboards"
