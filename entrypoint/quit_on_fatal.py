"""Ends supervisord when it has given up on a program.

Without it supervisord would stay up with nothing to supervise.
http://supervisord.org/events.html#event-listeners-and-event-notifications
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from supervisor import childutils

DEAD = "dead"  # its presence makes `entrypoint.supervise` exit with a failure


def main(run_dir: Path, supervisord: int) -> None:
    """Wait for PROCESS_STATE_FATAL, note it, and stop `supervisord` (a pid)."""
    while True:
        headers, payload = childutils.listener.wait(sys.stdin, sys.stdout)
        event, _ = childutils.eventdata(payload + "\n")
        name = event["processname"]
        print(f"{name}: {headers['eventname']}, stopping", file=sys.stderr, flush=True)
        (run_dir / DEAD).write_text(name)
        os.kill(supervisord, signal.SIGTERM)
        childutils.listener.ok(sys.stdout)


if __name__ == "__main__":
    main(Path(os.environ["SUPERVISE_RUN_DIR"]), os.getppid())
