"""Fetch a model from ModelScope with its own client; what broke off is resumed."""

from __future__ import annotations

import errno
import os
import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import requests
from modelscope import snapshot_download
from modelscope.hub.callback import ProgressCallback
from modelscope_hub.errors import FileDownloadError, HubError, NotExistError

from bundle.errors import CouldNotRun, ExitCode, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from bundle.model import ModelScopeSource

_NOT_FOUND = 404


def fetch(source: ModelScopeSource, endpoint: str, target: Path) -> None:
    """Download all files of `source` into `target`; each is checked by the hub's sha256.

    Raises:
        CouldNotRun: the hub, the network or the disk failed; run again to go on.
    """
    progress = Progress(source.size_bytes)

    class PerFile(ProgressCallback):  # type: ignore[misc] # the library has no types
        """The library makes one per file; all report to the same progress."""

        def update(self, size: int) -> None:
            progress.add(size)

    try:
        with _ended_by_a_signal():
            # `local_dir`, since `cache_dir` nests the files one folder deeper.
            snapshot_download(
                source.id,
                revision=source.revision,
                local_dir=str(target),
                endpoint=endpoint,
                progress_callbacks=[PerFile],
            )
    except (HubError, requests.RequestException, OSError) as error:
        raise CouldNotRun(explain(error, source, endpoint)) from error


@contextmanager
def _ended_by_a_signal() -> Iterator[None]:
    """End the process at once by Ctrl-C or SIGTERM while this is open.

    A `KeyboardInterrupt` inside tqdm leaves its lock taken; the library then waits for
    its threads, and they for that lock, for ever. What has come is on the disk.
    """

    def end(number: int, _: object) -> None:
        by = "Ctrl-C" if number == signal.SIGINT else "SIGTERM"
        os.write(2, f"\nstopped by {by}; run it again, it goes on from here\n".encode())
        os._exit(ExitCode.COULD_NOT_RUN)

    before = {n: signal.signal(n, end) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def explain(error: Exception, source: ModelScopeSource, endpoint: str) -> Problem:
    """Say what went wrong and which setting helps."""
    if isinstance(error, FileDownloadError) and error.failed_files:
        name, first = next(iter(error.failed_files.items()))
        if isinstance(first, Exception):
            inner = explain(first, source, endpoint)
            return Problem(f"{name}: {inner.what}", inner.remedy)
    if getattr(error, "errno", None) == errno.ENOSPC:
        return Problem(
            "the disk is full", "free some disk and run the same again, it goes on here"
        )
    if _is_not_found(error):
        return Problem(
            f"{endpoint} has no model {source.id} with revision {source.revision}",
            "correct source.id and source.revision in model.yaml",
        )
    return Problem(
        f"{source.id} could not be fetched from {endpoint}: {_reason(error)}",
        "run the same again, it goes on from here; "
        "or set BUNDLE_MODELSCOPE_ENDPOINT to a mirror that this host can reach",
    )


def _is_not_found(error: Exception) -> bool:
    response = getattr(error, "response", None)
    status = getattr(response, "status_code", None)
    return isinstance(error, NotExistError) or status == _NOT_FOUND


def _reason(error: Exception) -> str:
    """First line of the library's message, without its request details."""
    return f"{type(error).__name__}: {str(error).splitlines()[0][:200]}"


class Progress:
    """Prints every few seconds how much of `total` bytes has come, and the time left."""

    def __init__(
        self,
        total: int,
        clock: Callable[[], float] = time.monotonic,
        interval_seconds: float = 5,
    ) -> None:
        """Start counting now."""
        self._total, self._clock, self._interval = total, clock, interval_seconds
        self._lock = threading.Lock()
        self._done = 0
        self._started = self._printed = clock()

    def add(self, count: int) -> None:
        """Count `count` more bytes; called from several threads."""
        with self._lock:
            self._done += count
            if self._clock() - self._printed >= self._interval:
                self._printed = self._clock()
                print(self.line(), flush=True)

    def line(self) -> str:
        """Give the progress as one line."""
        rate = self._done / max(self._clock() - self._started, 1e-9)
        left = max(0, self._total - self._done) / max(rate, 1)
        return (
            f"  {self._done // 1_000_000} of {self._total // 1_000_000} MB, "
            f"{rate / 1e6:.1f} MB/s, {left:.0f} s left"
        )
