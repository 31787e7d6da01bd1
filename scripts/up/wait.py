"""Wait until the server is ready, showing what it does; say why if it dies."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING

from bundle.causes.diagnose import diagnose
from bundle.errors import CheckFailed, CouldNotRun, ExitCode, Problem
from scripts import health
from scripts.up.place import LOG

if TYPE_CHECKING:
    from collections.abc import Callable

    from bundle.settings import Settings
    from scripts.up.process import Running

BUDGET_SECONDS = 900  # a cold start of the 1.8B model took 124 s on two cores
TAIL_LINES = 20
_REFUSED = (ExitCode.WRONG_USAGE, ExitCode.HOST_NOT_READY, ExitCode.BAD_SETTINGS)
_DEATHS = ("exited: server", "gave up: server")  # supervisord's own words


def until_ready(
    settings: Settings,
    running: Running,
    exit_code: Callable[[], int | None] = lambda: None,
) -> float:
    """Wait for a real generation; give the seconds it took.

    `exit_code` gives that of the entrypoint once it has ended.

    Raises:
        CouldNotRun: the engine died, or was not ready in time.
        SystemExit: the entrypoint refused to start; its words have been printed.
    """
    started = time.monotonic()
    while not _is_ready(settings):
        seconds = time.monotonic() - started
        if (code := exit_code()) in _REFUSED:
            _clear()
            print(_log(), end="", file=sys.stderr, flush=True)
            raise SystemExit(code)
        if not running.processes() or any(death in _log() for death in _DEATHS):
            raise died(f"the engine died after {seconds:.0f} s")
        if seconds > BUDGET_SECONDS:
            raise died(f"the engine is not ready after {seconds:.0f} s")
        _show(seconds)
        time.sleep(1)
    _clear()
    return time.monotonic() - started


def died(what: str) -> CouldNotRun:
    """Print the end of the log, and give the error that names the cause."""
    _clear()
    lines = [line for line in _log().splitlines() if line.strip()]
    print(f"last lines of {LOG}:", *lines[-TAIL_LINES:], sep="\n  ", flush=True)
    found = diagnose("\n".join(lines))
    said = found.evidence or "the log has no exception"
    remedy = found.remedy if found.cause else f"read {LOG} from its first exception on"
    return CouldNotRun(Problem(f"{what}: {found.what} ({said})", remedy, found.page))


def _is_ready(settings: Settings) -> bool:
    try:
        health.ready(settings)
    except CheckFailed:
        return False
    return True


def _log() -> str:
    return LOG.read_text(errors="replace") if LOG.exists() else ""


def _show(seconds: float) -> None:
    last = next((line for line in reversed(_log().splitlines()) if line.strip()), "")
    text = f"  {seconds:4.0f} s  {last.strip()}"
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns - 1
        print(f"\r\x1b[K{text[:width]}", end="", flush=True)
    elif int(seconds) % 10 == 0:
        print(text[:160], flush=True)


def _clear() -> None:
    if sys.stdout.isatty():
        print("\r\x1b[K", end="", flush=True)
