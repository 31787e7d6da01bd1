"""Says why the engine died: at the end of the log, and in a file for the exporter.

A listener of supervisord: it is sent what the engine prints, and told when it dies. A
stop that was asked for is another event, and no death.
http://supervisord.org/events.html#event-listeners-and-event-notifications
"""

from __future__ import annotations

import ast
import json
import os
import re
import signal
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

LINES = 2000  # eight workers that die together each print a traceback
WIDTH = 4000  # characters that are kept of a line
PROGRAM = "server"
DEATH = "death.json"
SUPERVISOR_LOG = "supervisord.log"  # supervisord tells a listener no exit code
_UNDECODABLE = "Undecodable: "
_BAR = re.compile(r"\s*$|.*\d%")
_EXITED = re.compile(
    rf".*exited: {PROGRAM} \((?:exit status (\d+)|terminated by (SIG\w+))", re.DOTALL
)


@dataclass
class Coroner:
    """The last lines of an engine, and its deaths so far by cause.

    `folder` lies in the run folder, where supervisord's own log is.
    """

    folder: Path
    clock: Callable[[], float] = time.time
    lines: deque[str] = field(default_factory=lambda: deque([""], LINES))
    deaths: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Go on counting where an earlier listener stopped."""
        broken = (ValueError, TypeError, LookupError, OverflowError, RecursionError)
        with suppress(OSError, *broken):
            note = json.loads((self.folder / DEATH).read_text(encoding="utf-8"))
            counts = {cause: int(note["deaths"][cause]) for cause in note["deaths"]}
            self.deaths.update(counts)

    def hear(self, text: str) -> None:
        """Take what was printed; a line may come in pieces.

        A progress bar that is drawn anew takes the place of the old one.
        """
        first, *more = _decoded(text).replace("\r\n", "\n").split("\n")
        self._add(first)
        for line in more:
            self.lines.append("")
            self._add(line)

    def _add(self, piece: str) -> None:
        first, *more = piece.split("\r")
        self.lines[-1] = (self.lines[-1] + first)[:WIDTH]
        for part in more:
            if _BAR.match(self.lines[-1]):
                self.lines[-1] = part[:WIDTH]
            else:
                self.lines.append(part[:WIDTH])

    def report(self) -> str:
        """Write the file and give the block for the log; begin anew."""
        last, exit_code = self._exit()
        found = diagnose("\n".join([*self.lines, last]))
        self.deaths[found.id] += 1
        self.lines = deque([""], LINES)
        with suppress(OSError):  # a full disk is what it may have to tell
            self._write(found, exit_code)
        return str(found)

    def _exit(self) -> tuple[str, int | None]:
        """Give supervisord's last words on it, and its exit code; negative: a signal."""
        try:
            text = (self.folder.parent / SUPERVISOR_LOG).read_text(errors="replace")
        except OSError:
            return "", None
        said = _EXITED.match(text)  # the dots are greedy: this is the last one
        if not said:
            return "", None
        code = int(said[1]) if said[1] else -signal.Signals[said[2]]
        return said[0].rpartition("\n")[2], code

    def _write(self, found: Diagnosis, exit_code: int | None) -> None:
        note = {
            "time": self.clock(),
            "exit_code": exit_code,
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


def _decoded(text: str) -> str:
    """Give what supervisord could not decode, as a character was cut in two.

    It then sends `Undecodable: b'...'` (supervisor.events).
    """
    if not text.startswith(f"{_UNDECODABLE}b"):
        return text
    try:
        sent = ast.literal_eval(text[len(_UNDECODABLE) :])
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text  # the engine's own words
    return sent.decode(errors="replace") if isinstance(sent, bytes) else text


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
