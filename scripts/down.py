"""`make down`: stop the embedded server and leave no process behind."""

from __future__ import annotations

import sys

from bundle.errors import ExitCode, run_command
from scripts.up import process


def main() -> int:
    """Stop what `make up` started, if it runs."""
    if not (running := process.find()):
        print("nothing is running")
        return ExitCode.GOOD
    print(
        f"stopping {running.model} (process {running.pid}); open requests have "
        f"{running.drain_seconds} s to finish",
        flush=True,
    )
    process.stop(running)
    print("stopped; no process is left")
    return ExitCode.GOOD


if __name__ == "__main__":
    sys.exit(run_command(main))
