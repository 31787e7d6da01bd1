"""`python -m scripts.warm`: start the server once, so that its compile cache is filled.

The image's build calls it with `--build-arg WARM=1`; a first start then takes as long as
a later one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from bundle.errors import CheckFailed, CouldNotRun, ExitCode, Problem, run_command
from bundle.settings import load
from scripts import health

if TYPE_CHECKING:
    from collections.abc import Mapping

BUDGET_SECONDS = 900


def main(environ: Mapping[str, str], command: tuple[str, ...]) -> int:
    """Start `command`, wait for a generation, stop it and see that it ends well."""
    with tempfile.TemporaryDirectory() as folder:
        # Of its own: notes of this start must not be in the image.
        environ = {**environ, "BUNDLE_RUN_DIR": folder}
        with subprocess.Popen(command, env=environ) as process:
            try:
                seconds = _until_ready(environ, process)
            finally:
                process.terminate()
    if process.returncode:
        raise _failed(f"the server ended with {process.returncode} when it was stopped")
    print(f"ready after {seconds:.0f} s; the compile cache is filled", flush=True)
    return ExitCode.GOOD


def _until_ready(environ: Mapping[str, str], process: subprocess.Popen[bytes]) -> float:
    started = time.monotonic()
    while (seconds := time.monotonic() - started) < BUDGET_SECONDS:
        if process.poll() is not None:
            raise _failed(f"the server ended with {process.returncode}")
        try:
            health.ready(load(environ))
        except CheckFailed:
            time.sleep(1)
        else:
            return seconds
    raise _failed(f"the server is not ready after {BUDGET_SECONDS} s")


def _failed(what: str) -> CouldNotRun:
    remedy = "mend what it says above, or build without WARM (a card is in no build)"
    return CouldNotRun(Problem(what, remedy, "docs/ascend.md#a-warm-image"))


if __name__ == "__main__":
    words = (sys.executable, "-m", "entrypoint")
    sys.exit(run_command(lambda: main(os.environ, words)))
