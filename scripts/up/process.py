"""The embedded server as a process: start it, find it, stop it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bundle.errors import CouldNotRun, Problem
from scripts.up.place import LOG, ROOT, VAR

if TYPE_CHECKING:
    from collections.abc import Mapping

RECORD = VAR / "run/server.json"
GRACE_SECONDS = 20  # beyond the drain, before SIGKILL


@dataclass(frozen=True)
class Running:
    """A server that was started: its pid leads the session of all its processes."""

    pid: int
    model: str
    drain_seconds: int

    def processes(self, proc: Path = Path("/proc")) -> list[int]:
        """Pids of the session that are alive, the leader or not."""
        return sorted(
            int(entry.parent.name)
            for entry in proc.glob("[0-9]*/stat")
            if _session(entry) == self.pid
        )


def start(
    environ: Mapping[str, str], model: str, drain_seconds: int
) -> tuple[Running, subprocess.Popen[bytes]]:
    """Start the entrypoint in a session of its own, its output in the log."""
    if LOG.exists():
        LOG.replace(LOG.with_suffix(".log.1"))
    # To append: supervisord opens it anew for its children, and they must not overwrite.
    with LOG.open("ab") as log:
        child = subprocess.Popen(
            [sys.executable, "-u", "-m", "entrypoint"],
            cwd=ROOT,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    running = Running(child.pid, model, drain_seconds)
    RECORD.write_text(json.dumps(asdict(running)))
    return running, child


def find() -> Running | None:
    """Give the recorded server if any process of it is alive."""
    try:
        running = Running(**json.loads(RECORD.read_text()))
    except (OSError, ValueError, TypeError):
        return None
    return running if _is_ours(running) else None


def stop(running: Running) -> None:
    """Stop it: TERM to its leader, time to drain, then KILL what is left.

    Raises:
        CouldNotRun: a process outlives SIGKILL.
    """
    _signal([running.pid], signal.SIGTERM)
    if not _gone(running, running.drain_seconds + GRACE_SECONDS):
        print(f"  killing {running.processes()}, which did not stop", flush=True)
        _signal(running.processes(), signal.SIGKILL)
        if not _gone(running, 10):
            raise CouldNotRun(
                Problem(f"{running.processes()} cannot be killed", "restart the host")
            )
    RECORD.unlink(missing_ok=True)


def _is_ours(running: Running) -> bool:
    """Whether the session is of this bundle, and not of a reused pid."""
    marks = (b"entrypoint", b"monitoring", b"prometheus", b"vllm", b"VLLM")
    for pid in running.processes():
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if any(mark in words for mark in marks):
            return True
    return False


def _gone(running: Running, seconds: float) -> bool:
    """Wait until no process is left; if the leader died, the others get TERM too."""
    deadline = time.monotonic() + seconds
    while (left := running.processes()) and time.monotonic() < deadline:
        if running.pid not in left:
            _signal(left, signal.SIGTERM)
        time.sleep(0.2)
    return not left


def _signal(pids: list[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _session(stat: Path) -> int:
    """Session id in `/proc/PID/stat`, 0 for one that is gone or a zombie."""
    try:
        # The name in parentheses may hold spaces and parentheses itself.
        fields = stat.read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return 0 if fields[0] == "Z" else int(fields[3])
