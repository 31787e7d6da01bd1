"""The tuned preset by the reference's: `python -m tests.bench_presets`.

Restarts of the engine of `make up`, by turns, on the machine's CPU; each is timed to its
first token and then given the base point, scaled. Needs the weights of `make weights`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import requests

from bundle import api
from bundle.model import load_model
from bundle.settings import Settings, load
from entrypoint.command import vllm_argv, vllm_environ
from scripts.benchmark import against
from scripts.benchmark.load import Load
from scripts.benchmark.result import Benchmark, benchmark
from scripts.progress import progress
from scripts.statistics import paired_ratio

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bundle.model import Model

ROOT = Path(__file__).parents[1]
PAIRS = 4
ENVIRON = {
    "BUNDLE_MODEL": "smollm2-135m-instruct",
    "BUNDLE_WEIGHTS_DIR": str(ROOT / "var/models"),
    "BUNDLE_ENGINE_PYTHON": str(ROOT / ".venv/engine-cpu/bin/python"),
    "BUNDLE_EXTRA_ARGS": "--host 127.0.0.1",
}


def main() -> None:
    """Print each metric of tuned by reference, with its 95% interval."""
    ready: list[tuple[float, float]] = []
    pairs: list[against.Pair] = []
    for turn in range(PAIRS):
        order = ("tuned", "reference") if turn % 2 == 0 else ("reference", "tuned")
        found = {preset: measure(preset) for preset in order}
        (ours_ready, ours), (theirs_ready, theirs) = found["tuned"], found["reference"]
        ready.append((ours_ready, theirs_ready))
        pairs.append((ours, theirs))
    told = against.compare("tuned", "reference", PAIRS, pairs)
    print(f"\n{told.title()}; invalid runs: {told.invalid}")
    for row in told.rows:
        print(f"  {row.metric}: {against.line(row)}")
    ours_all, theirs_all = zip(*ready, strict=True)
    ratio, interval = paired_ratio(ours_all, theirs_all)
    print(f"  seconds to the first token: {ready}, {ratio:.3f} {interval}")


def measure(preset: str) -> tuple[float, Benchmark]:
    """Give seconds to the first token, and the run, of a fresh engine."""
    settings = load({**ENVIRON, "BUNDLE_PRESET": preset})
    model = load_model(settings.models_dir, settings.model)
    asked = Load(model.name, input_len=128, output_len=32, rate=1.0, num_prompts=20)
    with engine(settings, model) as seconds:
        print(f"{preset}: ready after {seconds:.1f} s", flush=True)
        server = api.server(settings)
        return seconds, benchmark(server, asked, model.slo, progress(preset))


@contextmanager
def engine(settings: Settings, model: Model) -> Iterator[float]:
    """Run the engine; give the seconds to its first token."""
    argv = vllm_argv(settings, model, "cpu")
    environ = vllm_environ(settings, model, "cpu", os.environ)
    began = time.monotonic()
    process = subprocess.Popen(
        argv, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while not first_token(model.name):
            assert process.poll() is None, f"the engine died: {argv}"
            time.sleep(0.2)
        yield time.monotonic() - began
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def first_token(model: str) -> bool:
    """Whether the server answers."""
    body = {"model": model, "prompt": "Once", "max_tokens": 1}
    try:
        url = "http://127.0.0.1:8000/v1/completions"
        return requests.post(url, json=body, timeout=60).ok
    except requests.RequestException:
        return False


if __name__ == "__main__":
    main()
