"""Says why the engine died: at the end of the log, and in a file for the exporter.

A listener of supervisord: it is sent what the engine prints, and told when it dies. A
stop that was asked for is another event, and no death.
http://supervisord.org/events.html#event-listeners-and-event-notifications
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter, deque
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from supervisor import childutils

from bundle.causes.diagnose import Diagnosis, diagnose
from bundle.settings import READINGS

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

LINES = 200
PROGRAM = "server"
DEATH = "death.json"


@dataclass
class Coroner:
    """The last lines of an engine, and its deaths so far by cause."""

    folder: Path
    clock: Callable[[], float] = time.time
    lines: deque[str] = field(default_factory=lambda: deque([""], LINES))
    deaths: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Go on counting where an earlier listener stopped."""
        with suppress(OSError, ValueError, TypeError, KeyError):
            note = json.loads((self.folder / DEATH).read_text(encoding="utf-8"))
            self.deaths.update(note["deaths"])

    def hear(self, text: str) -> None:
        """Take what was printed; a line may come in pieces."""
        first, *more = text.split("\n")
        self.lines[-1] += first
        self.lines.extend(more)

    def report(self) -> str:
        """Write the file and give the block for the log; begin anew."""
        found = diagnose("\n".join(self.lines))
        self.deaths[found.id] += 1
        self.lines = deque([""], LINES)
        with suppress(OSError):  # a full disk is what it may have to tell
            self._write(found)
        return str(found)

    def _write(self, found: Diagnosis) -> None:
        note = {
            "time": self.clock(),
            "cause": found.id,
            "evidence": found.evidence,
            "remedy": found.remedy,
            "others": [other.id for other in found.others],
            "deaths": dict(self.deaths),
        }
        self.folder.mkdir(exist_ok=True)
        partial = self.folder / f".{DEATH}.partial"
        partial.write_text(json.dumps(note, ensure_ascii=False), encoding="utf-8")
        partial.replace(self.folder / DEATH)


def listen(coroner: Coroner, stdin: TextIO, stdout: TextIO) -> None:
    """Answer supervisord's events until it ends."""
    while True:
        headers, payload = childutils.listener.wait(stdin, stdout)
        event, data = childutils.eventdata(payload + "\n")
        if event["processname"] == PROGRAM:
            if headers["eventname"].startswith("PROCESS_LOG"):
                coroner.hear(data[:-1])
            else:
                print(coroner.report(), file=sys.stderr, flush=True)
        childutils.listener.ok(stdout)


if __name__ == "__main__":
    # supervisord counts characters, and a line end is one or two of them. Not "", with
    # which Python waits behind a "\r" for what comes next, and supervisord for an answer.
    sys.stdin.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
    run_dir = Path(os.environ["SUPERVISE_RUN_DIR"])
    listen(Coroner(run_dir / READINGS), sys.stdin, sys.stdout)
