"""`python -m monitoring`: the exporter, on port 9810."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

from bundle import api
from bundle.errors import ExitCode, run_command
from bundle.model import load_model, load_questions
from bundle.settings import EXPORTER_PORT, load
from monitoring.about import About
from monitoring.collector import Scrape
from monitoring.deaths import Deaths
from monitoring.engine import Engine
from monitoring.evidence import Evidence
from monitoring.npu import Npu
from monitoring.prober import Prober
from monitoring.server_up import ServerUp
from monitoring.web import Watch, listen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bundle.model import Model
    from bundle.settings import Settings
    from monitoring.collector import Source

REPORT = Path(__file__).resolve().parents[1] / "var/report"
TIMEOUT_SECONDS = 3  # below Prometheus' 10 s, also when two sources hang


def main(
    environ: Mapping[str, str], port: int = EXPORTER_PORT, report: Path = REPORT
) -> int:
    """Serve until SIGTERM or SIGINT; the smoke test's report lies in `report`."""
    settings = load(environ)
    model = load_model(settings.models_dir, settings.model)
    probe = prober(settings, model)
    watched = watch(settings, model, probe, report)
    server = listen(settings.listen_address, watched, port)
    print(f"exporter on {settings.listen_address}:{port}", flush=True)
    Thread(target=server.serve_forever, daemon=True).start()
    # A daemon: a probe that waits for a slow server does not hold up the end.
    Thread(target=probe.run, args=(Event(),), daemon=True).start()
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    server.shutdown()
    server.server_close()
    return ExitCode.GOOD


def watch(settings: Settings, model: Model, probe: Prober, report: Path) -> Watch:
    """Give all that the web server shows."""
    target = api.server(settings, timeout=TIMEOUT_SECONDS)
    asked = sources(settings, model, target)
    scrape = Scrape((*asked, Evidence(report), probe))
    return Watch(scrape, probe.history, model, target, report)


def sources(settings: Settings, model: Model, target: api.Server) -> tuple[Source, ...]:
    """Give what is asked at each scrape; the prober is not among it."""
    npu = Npu(settings.run_dir, expected=settings.device == "ascend")
    return (
        ServerUp(target),
        Engine(target),
        *(() if settings.device == "cpu" else (npu,)),
        Deaths(settings.run_dir),
        About(settings, model),
    )


def prober(settings: Settings, model: Model) -> Prober:
    """Give the prober with the model's canary questions, not yet running."""
    return Prober(
        api.server(settings, timeout=TIMEOUT_SECONDS),
        model,
        load_questions(settings.models_dir, settings.model).canary,
        settings.probe_interval_seconds,
    )


if __name__ == "__main__":
    # Blocked in every thread, so that `sigwait` gets them.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    sys.exit(run_command(lambda: main(os.environ)))
