"""What the chart runs in a pod, run for real: init, probes, preStop and `helm test`."""

from __future__ import annotations

import pytest

from tests.container.engine import DOCKER, good
from tests.container.names import STACK
from tests.fixtures.chart import (
    EXAMPLES,
    Json,
    containers,
    environ,
    of_kind,
    pods,
    render,
)

pytestmark = pytest.mark.timeout(2400)

# A release of compose's name, so that the chart's URL is one here too.
RELEASE = "server"
HARDENED = (
    "--read-only",
    "--cap-drop",
    "ALL",
    "--security-opt",
    "no-new-privileges:true",
)


def run_as_in_a_pod(image: str, container: Json, network: str) -> None:
    """Run with the chart's environment, folders and words; it must succeed."""
    folders = [mount["mountPath"] for mount in container["volumeMounts"]]
    mounts = [f"{path}:exec,uid=1000,gid=1000" for path in folders]
    good(
        *(DOCKER, "run", "--rm", *HARDENED, "--network", network),
        *(word for mount in mounts for word in ("--tmpfs", mount)),
        *(w for k, v in environ(container).items() for w in ("--env", f"{k}={v}")),
        *(image, *container.get("args", [])),
    )


def in_the_server(*command: str) -> str:
    """Run a command in the server's container, as the kubelet would."""
    return good(*STACK, "exec", "--no-TTY", "server", *command)


def named(name: str) -> Json:
    """Give a container of the CPU example."""
    found = render(EXAMPLES["cpu"], RELEASE)
    (one,) = [c for _, spec in pods(found) for c in containers(spec) if c["name"] == name]
    return one


def test_the_doctor_lets_the_server_start(images: dict[str, str]) -> None:
    run_as_in_a_pod(images["server"], named("doctor"), "none")


@pytest.mark.parametrize("probe", ["startupProbe", "readinessProbe", "livenessProbe"])
def test_the_probes_pass_in_a_server_that_serves(
    stack: dict[str, str], probe: str
) -> None:
    assert stack

    in_the_server(*named("server")[probe]["exec"]["command"])


def test_pre_stop_is_a_command_of_the_image(stack: dict[str, str]) -> None:
    assert stack
    (found,) = of_kind(
        render({**EXAMPLES["cpu"], "stop": {"preStopSeconds": 1}}, RELEASE), "Deployment"
    )
    server = found["spec"]["template"]["spec"]["containers"][0]

    in_the_server(*server["lifecycle"]["preStop"]["exec"]["command"])


def test_helm_test_says_pass(stack: dict[str, str]) -> None:
    run_as_in_a_pod(stack["smoke"], named("smoke"), "bundle-test_default")
