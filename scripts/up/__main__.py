"""`python -m scripts.up`: serve the model on this host and prove it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from bundle import host
from bundle.errors import HostNotReady, Problem, run_command
from bundle.model import Model, load_model
from bundle.settings import EXPORTER_PORT, SERVER_PORT, Settings, load
from scripts.install import install
from scripts.up import ascend, place, process, prometheus, wait
from scripts.up.checks import check_host
from scripts.up.steps import Steps
from scripts.weights.__main__ import ensure

if TYPE_CHECKING:
    from collections.abc import Mapping


def main(environ: Mapping[str, str]) -> int:
    """Check, install, fetch, start, wait, prove."""
    own_engine = "BUNDLE_ENGINE_PYTHON" in environ
    environ = place.embedded_environ(environ)
    settings = load(environ)
    model = load_model(settings.models_dir, settings.model)
    if settings.device != "cpu" and host.has_npu():
        return ascend.up()
    place.make_folders()
    with place.only_one():
        running = _already_running(settings)
        check_host(settings, model, running=running is not None)
        steps = Steps()
        with steps.step("install"):
            for name in () if own_engine else ("tool", "engine-cpu"):
                install(name)
        with steps.step("weights"):
            ensure(settings, model)
        with steps.step("start"):
            _serve(settings, environ, running)
        with steps.step("proof"):
            code = _prove(environ)
        print(_summary(model, steps), flush=True)
        return code


def _already_running(settings: Settings) -> process.Running | None:
    running = process.find()
    if running and running.model != settings.model:
        raise HostNotReady(
            Problem(
                f"{running.model} is being served here, not {settings.model}",
                "run `make down` first",
            )
        )
    return running


def _serve(
    settings: Settings, environ: Mapping[str, str], running: process.Running | None
) -> None:
    if running:
        print(f"already running, process {running.pid}", flush=True)
        wait.until_ready(settings, running)
        return
    print(f"starting the server; its log is {place.LOG}", flush=True)
    environ = {**environ, **prometheus.prepare(settings.model)}
    running, child = process.start(environ, settings.model, settings.drain_seconds)
    try:
        seconds = wait.until_ready(settings, running, child.poll)
    except BaseException:
        process.stop(running)  # nothing half-started stays behind, also at Ctrl-C
        raise
    print(f"ready after {seconds:.0f} s", flush=True)


def _prove(environ: Mapping[str, str]) -> int:
    command = [sys.executable, "-m", "scripts.smoke", "--out", str(place.REPORT)]
    done = subprocess.run(command, cwd=place.ROOT, env=dict(environ), check=False)
    return done.returncode


def _summary(model: Model, steps: Steps) -> str:
    history = prometheus.URL if prometheus.is_up() else "none: no Prometheus runs"
    return "\n".join(
        [
            f"\n{model.title} is served:",
            f"  chat     http://127.0.0.1:{SERVER_PORT}/v1/chat/completions",
            f"  status   http://127.0.0.1:{EXPORTER_PORT}/",
            f"  metrics  http://127.0.0.1:{EXPORTER_PORT}/metrics",
            f"  history  {history}",
            f"  report   {place.REPORT / 'report.md'}",
            f"  time     {steps}",
            "stop it with `make down`",
        ]
    )


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _interrupt)
    sys.exit(run_command(lambda: main(os.environ)))
