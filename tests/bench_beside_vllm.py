"""Ours beside `vllm bench serve`: `python -m tests.bench_beside_vllm URL WEIGHTS`.

On the same server, by turns, with the same load and each turn another seed. WEIGHTS is
the folder of the model, whose tokenizer vLLM's benchmark needs; BUNDLE_MODEL names it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[1]
ENGINE = ROOT / ".venv/engine-cpu/bin/python"
TURNS = 3
LOAD = ["--input-len=128", "--output-len=32", "--request-rate=1", "--num-prompts=15"]
# The package of the CPU engine has another name, so that its `vllm` command does not run.
THEIRS = (
    "import argparse as a, vllm.benchmarks.serve as s\n"
    "p = a.ArgumentParser(); s.add_cli_args(p); s.main(p.parse_args())"
)
SHOWN = (
    *("duration", "completed", "total_input_tokens", "total_output_tokens"),
    *("request_throughput", "output_throughput", "total_token_throughput"),
    *("max_output_tokens_per_s", "max_concurrent_requests"),
    *(f"{k}_{n}_ms" for n in ("ttft", "tpot", "itl", "e2el") for k in ("mean", "median")),
)


def main(url: str, weights: str) -> None:
    """Run by turns, and print the median over the turns and the ratio of each number."""
    with tempfile.TemporaryDirectory() as folder:
        turns = [
            (ours(url, Path(folder), turn), theirs(url, weights, Path(folder), turn))
            for turn in range(1, TURNS + 1)
        ]
    print("| key | ours | vLLM's | ratio |\n|---|---|---|---|")
    for key in SHOWN:
        mine, other = (
            median(one[key] for one in side) for side in zip(*turns, strict=True)
        )
        print(f"| `{key}` | {mine:.2f} | {other:.2f} | {mine / other:.3f} |")


def ours(url: str, folder: Path, seed: int) -> dict[str, Any]:
    """Run our benchmark; give its file."""
    words = ["-m", "scripts.benchmark", *LOAD, f"--seed={seed}", f"--out={folder}"]
    environ = {**os.environ, "BUNDLE_SERVER_URL": url}
    subprocess.run([sys.executable, *words], cwd=ROOT, env=environ, check=False)
    return _read(folder / "benchmark.json")


def theirs(url: str, weights: str, folder: Path, seed: int) -> dict[str, Any]:
    """Run vLLM's benchmark; give its file."""
    path = folder / f"vllm{seed}.json"
    words = [
        *(f"--base-url={url}", f"--model={weights}", "--dataset-name=random", *LOAD),
        f"--served-model-name={os.environ['BUNDLE_MODEL']}",
        *("--num-warmups=4", "--temperature=0", f"--seed={seed}"),
        *("--percentile-metrics=ttft,tpot,itl,e2el", "--metric-percentiles=90,99"),
        *("--save-result", "--save-detailed", f"--result-filename={path}"),
    ]
    subprocess.run([ENGINE, "-c", THEIRS, *words], check=True)
    return _read(path)


def _read(path: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(path.read_text())
    return told


if __name__ == "__main__":
    main(*sys.argv[1:])
