"""Ask a command that may hang, as npu-smi does when a card does."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

TIMEOUT_SECONDS = 4  # a check may take 5


def ask(command: Sequence[str], timeout: float = TIMEOUT_SECONDS) -> str:
    """Give what a command prints, errors too, whatever its exit code.

    `timeout` is in seconds.

    Raises:
        OSError: it is not there; TimeoutError: it gave no answer in time.
    """
    # A file, since a pipe stays open as long as any child of the command lives.
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired as error:
            _end(process)
            what = f"no answer within {timeout:.0f} s"
            raise TimeoutError(what) from error
        output.seek(0)
        return output.read().decode(errors="replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill it with its children; one that waits for a driver cannot be waited for."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(0.5)
