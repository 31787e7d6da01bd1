"""Ctrl-C ends a run, and what was measured is kept."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from scripts.benchmark.result import Stopped
from tests.fixtures.benchmark import run_on
from tests.fixtures.known_server import Profile


def test_ctrl_c_keeps_what_was_measured() -> None:
    """Requests leave every 25 ms and take 75 ms: after 0.4 s some are under way."""

    def interrupt() -> None:
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(Stopped) as stopped:
        run_on(Profile(), num_prompts=400)
    thread.join()
    result = stopped.value.result

    assert 0 < result.metrics.completed < 400
    assert result.metrics.failed == 0
    assert (
        "stopped by Ctrl-C"
        in {one.check: one.found for one in result.failed()}["whole run"]
    )
