"""Where the embedded default keeps its things, and the settings it adds."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bundle.errors import CouldNotRun, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parents[2]
VAR = ROOT / "var"
LOG = VAR / "log/server.log"
REPORT = VAR / "report"
DEMO_MODEL = "smollm2-135m-instruct"


def embedded_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """Give `environ` with what the embedded default sets; the operator's values win."""
    defaults = {
        "BUNDLE_MODEL": DEMO_MODEL,
        "BUNDLE_WEIGHTS_DIR": str(VAR / "models"),
        "BUNDLE_RUN_DIR": str(VAR / "run"),
        "BUNDLE_ENGINE_PYTHON": str(ROOT / ".venv/engine-cpu/bin/python"),
        "BUNDLE_LISTEN_ADDRESS": "127.0.0.1",
        "BUNDLE_SUPERVISE_EXPORTER": "true",
        # A warm compile cache halves the time to ready (85 s to 39 s on two cores).
        "VLLM_CACHE_ROOT": str(VAR / "cache/vllm"),
    }
    return {**defaults, **environ}


def make_folders() -> None:
    """Make the folders that everything is written to."""
    try:
        for folder in (VAR / "run", LOG.parent, REPORT):
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CouldNotRun(
            Problem(
                f"{error.filename} cannot be made: {error.strerror}",
                "copy this folder to a place where you can write",
            )
        ) from error


@contextmanager
def only_one() -> Iterator[None]:
    """Hold the lock that two `make up` at once would fight over."""
    with (VAR / "up.lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.seek(0)
            holder = lock.read().strip()
            raise CouldNotRun(
                Problem(
                    f"another `make up` is at work here (process {holder})",
                    "wait until it is done, or end it with Ctrl-C",
                )
            ) from error
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield
