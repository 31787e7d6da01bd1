"""What supervisord starts as the server: prints the command line, then becomes it."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from typing import TYPE_CHECKING

from bundle.errors import run_command
from bundle.host import device_family
from bundle.model import load_model
from bundle.settings import STARTED, load
from entrypoint.command import vllm_argv, vllm_environ

if TYPE_CHECKING:
    from pathlib import Path


def main() -> int:
    """Read the settings again and replace this process by the engine."""
    settings = load(os.environ)
    model = load_model(settings.models_dir, settings.model)
    family = device_family(settings)
    argv = vllm_argv(settings, model, family)
    _note_start(settings.run_dir)
    print("Executing:", shlex.join(argv), flush=True)
    cpus = sorted(os.sched_getaffinity(0))
    environ = vllm_environ(settings, model, family, os.environ, cpus)
    os.execvpe(argv[0], argv, environ)  # noqa: S606 - no shell wanted


def _note_start(run_dir: Path) -> None:
    note = {"pid": os.getpid(), "started_at": time.time()}
    (run_dir / STARTED).write_text(json.dumps(note))


if __name__ == "__main__":
    sys.exit(run_command(main))
