"""On a host with an NPU the stack is Compose's; its failure is a sentence."""

from __future__ import annotations

import pytest

from bundle.errors import CouldNotRun, HostNotReady
from scripts.up.__main__ import COMPOSE_UP, ascend_host


def test_it_is_docker_compose_up_and_waits() -> None:
    assert " ".join(COMPOSE_UP) == "docker compose up --detach --wait"


def test_the_command_is_shown_and_its_success_is_ours(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert ascend_host(["true"]) == 0
    assert "  $ true\n" in capsys.readouterr().out


def test_a_stack_that_does_not_come_up_is_exit_2() -> None:
    with pytest.raises(CouldNotRun, match=r"false failed \(exit 1\)"):
        ascend_host(["false"])


def test_a_host_without_docker_is_not_ready() -> None:
    with pytest.raises(HostNotReady, match="no-such-docker does not run"):
        ascend_host(["no-such-docker"])
