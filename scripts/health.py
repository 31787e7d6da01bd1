"""One definition of health: `python -m scripts.health live|ready|startup`.

The image's HEALTHCHECK, compose and Kubernetes probes all call it. `/health` of vLLM
0.23 says 200 also when the engine hangs or writes garbage, so ready means more: since
this start of the engine, a real generation of two tokens came back.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

from bundle.api import ServerError, server
from bundle.errors import CheckFailed, ExitCode, Problem, WrongUsage, run_command
from bundle.settings import STARTED, Settings, load

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

GENERATED = "generated.json"  # a copy of STARTED, made when a generation came back
TIMEOUT_SECONDS = 30


def live(settings: Settings) -> None:
    """Raise unless the server process answers."""
    if not server(settings, timeout=5).healthy():
        raise CheckFailed(
            Problem(
                f"{settings.server_url}/health does not say 200",
                "wait if the server is starting, else read its log",
            )
        )


def startup(settings: Settings) -> None:
    """Raise unless the engine has generated something since it was started."""
    started = _noted(settings, STARTED)
    if started and started == _noted(settings, GENERATED):
        return
    live(settings)
    try:
        reply = server(settings, TIMEOUT_SECONDS).chat(
            settings.model,
            [{"role": "user", "content": "Say hello."}],
            max_tokens=2,
            temperature=0,
        )
    except ServerError as error:
        raise CheckFailed(*error.problems) from error
    if reply.completion_tokens < 1:
        raise CheckFailed(
            Problem("a generation came back empty", "read the server's log")
        )
    if started:
        (settings.run_dir / GENERATED).write_text(started)


def ready(settings: Settings) -> None:
    """Raise unless the server answers now and has generated since its start."""
    startup(settings)
    live(settings)


def _noted(settings: Settings, name: str) -> str:
    """Content of a note in RUN_DIR; empty if there is none, so nothing is ready."""
    try:
        text = (settings.run_dir / name).read_text()
        json.loads(text)
    except (OSError, ValueError):
        return ""
    return text


PROBES: dict[str, Callable[[Settings], None]] = {
    "live": live,
    "ready": ready,
    "startup": startup,
}


def main(words: Sequence[str]) -> int:
    """Run the named probe."""
    if len(words) != 1 or words[0] not in PROBES:
        raise WrongUsage(
            Problem(
                f"{' '.join(words) or '(nothing)'} is no probe",
                f"name one of {', '.join(PROBES)}",
            )
        )
    PROBES[words[0]](load(os.environ))
    print(words[0])
    return ExitCode.GOOD


if __name__ == "__main__":
    sys.exit(run_command(lambda: main(sys.argv[1:])))
