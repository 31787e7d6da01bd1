"""Docker Compose on this host: whether it is there, and what it is asked to do."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bundle.checks.finding import OK
from bundle.checks.host import compose_release
from bundle.errors import CouldNotRun, HostNotReady, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parents[1]
COMMAND = ("docker", "compose")


def check(command: Sequence[str] = COMMAND) -> None:
    """See that Docker and Compose can be used.

    Raises:
        HostNotReady: one of them is missing, too old or does not answer.
    """
    remedy = "install Docker's Compose plugin"
    found = compose_release(output(*command, "version", "--short", remedy=remedy))
    if found.level != OK:
        raise HostNotReady(Problem(found.found, found.remedy))
    remedy = "start Docker (systemctl start docker), or join its group"
    output("docker", "info", remedy=remedy)


def config(command: Sequence[str] = COMMAND) -> dict[str, Any]:
    """Give the stack as Compose reads it, with this host's `.env`."""
    said = output(
        *command, "config", "--format", "json", remedy="correct .env, or what it names"
    )
    found: dict[str, Any] = json.loads(said)
    return found


def output(*command: str, remedy: str) -> str:
    """Give what a command prints.

    Raises:
        HostNotReady: it is not there. CouldNotRun: it failed, with its last words.
    """
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=False
        )
    except OSError as error:
        what = f"{command[0]} does not run: {error.strerror}"
        raise HostNotReady(Problem(what, "install Docker with Compose")) from error
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        what = f"`{' '.join(command)[:80]}` failed: {said}"
        raise CouldNotRun(Problem(what, remedy))
    return done.stdout
