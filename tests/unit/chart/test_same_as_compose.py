"""Compose and the chart say the same of the server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bundle.model import Family, load_model
from bundle.settings import load
from entrypoint.command import vllm_argv, vllm_environ
from tests.container.engine import COMPOSE, good
from tests.fixtures.chart import environ, manifests, pods, server

FILES = {
    "atlas-a2": ["-f", "compose.yaml"],
    "cpu": ["-f", "compose.yaml", "-f", "compose.cpu.yaml"],
}
CASES: dict[Family, str] = {"atlas-a2": "defaults", "cpu": "cpu"}


def services(family: Family) -> dict[str, Any]:
    """Give compose's services, as Compose reads them."""
    if not Path(COMPOSE).exists():
        pytest.skip("Compose is not installed beside this Python")
    words = [COMPOSE, *FILES[family], "--profile", "smoke", "config", "--format", "json"]
    found: dict[str, Any] = json.loads(good(*words))["services"]
    return found


def command(environment: dict[str, str], family: Family) -> tuple[Any, ...]:
    """Give what the image makes of an environment: command line and environment."""
    settings = load(environment)
    model = load_model(settings.models_dir, settings.model)
    cpus = range(4)
    return (
        vllm_argv(settings, model, family),
        vllm_environ(settings, model, family, environment, cpus),
    )


@pytest.mark.parametrize("family", CASES)
def test_the_engine_has_the_same_command_and_environment(family: Family) -> None:
    # A .env of this host would be compose's own.
    compose = services(family)["server"].get("environment") or {}
    chart = environ(server(CASES[family])["containers"][0])

    assert command(chart, family) == command(compose, family)


@pytest.mark.parametrize("family", CASES)
def test_the_server_has_the_same_folders(family: Family) -> None:
    theirs = services(family)["server"]
    compose = {mount["target"] for mount in theirs["volumes"]}
    compose |= {place.partition(":")[0] for place in theirs["tmpfs"]}
    mounts = server(CASES[family])["containers"][0]["volumeMounts"]

    assert {mount["mountPath"] for mount in mounts} == {*compose, "/dev/shm"}  # noqa: S108 - its name
    assert theirs["read_only"] is True
    (shm,) = [v for v in server(CASES[family])["volumes"] if v["name"] == "shm"]
    assert shm["emptyDir"] == {"medium": "Memory", "sizeLimit": "1Gi"}
    assert int(theirs["shm_size"]) == 1024**3


@pytest.mark.parametrize("family", CASES)
def test_the_images_are_the_same_but_for_the_family(family: Family) -> None:
    theirs = services(family)
    ours = {
        one["name"]: one["image"]
        for _, spec in pods(manifests(CASES[family]))
        for one in spec["containers"]
    }
    suffix = "-cpu" if family == "cpu" else ""

    assert {name: ours[name] for name in ("server", "exporter", "smoke")} == {
        "server": theirs["server"]["image"] + suffix,
        "exporter": theirs["exporter"]["image"],
        "smoke": theirs["smoke"]["image"],
    }


@pytest.mark.parametrize("family", CASES)
def test_the_smoke_test_asks_for_the_same_model(family: Family) -> None:
    compose = services(family)["smoke"]["environment"]
    (smoke,) = [
        one
        for _, spec in pods(manifests(CASES[family]))
        for one in spec["containers"]
        if one["name"] == "smoke"
    ]
    ours, theirs = load(environ(smoke)), load(compose)

    assert ours.model == theirs.model
    assert ours.server_url == "http://chat:8000"
    assert smoke["volumeMounts"][0]["mountPath"] == "/opt/bundle/var/report"


def test_the_grace_period_is_compose_s() -> None:
    grace = server("defaults")["terminationGracePeriodSeconds"]
    compose = services("atlas-a2")["server"]["stop_grace_period"]

    assert f"{grace // 60}m{grace % 60}s" == compose
