"""Speed of a conversion beside `cp` of a file: `python -m tests.bench_convert DIR`.

The first run makes a checkpoint of the shape of Qwen-1_8B (3.7 GB) below DIR. The second
copies and converts it by turns, each to the disk's end (fsync), from memory: the source
is read before each. The conversion is the whole command: start of Python, checks, both
files' sha256, manifest. Only the step of the tokenizer, two or three seconds for every
size of model, is left out, by a stand-in for its Python.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.weights.qwen1 import expected_shapes
from scripts.weights.qwen1_config import network
from scripts.weights.safetensors import Tensor, encode
from tests.fixtures.qwen1 import REAL_RANKS, Small, tiktoken_file, vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable

REAL = Small(ranks=REAL_RANKS, heads=16, hidden=2048, layers=24)
CHANGED = {"intermediate_size": 11008}
ROUNDS = 5


def main(folder: Path) -> None:
    """Print each round's times, the medians, their ratio and the peak memory."""
    source = folder / "bench-source"
    if not source.exists():
        _make(source)
        # A child's peak memory counts from its parent's, which is high after this.
        sys.exit(f"made {source}; run the same again to measure")
    python = _no_tokenizer(folder)
    rounds = []
    for number in range(1, ROUNDS + 1):
        # Each is removed before the other runs: both then find the same free memory.
        _warm(source / "model.safetensors")
        copied = _timed(lambda: _cp(source / "model.safetensors", folder / "bench-copy"))
        (folder / "bench-copy").unlink()
        _warm(source / "model.safetensors")
        converted = _timed(lambda: _convert(source, folder / "bench-native", python))
        shutil.rmtree(folder / "bench-native")
        rounds.append((copied, converted))
        print(f"round {number}: cp {copied:.2f} s, convert {converted:.2f} s", flush=True)
    copied, converted = (statistics.median(times) for times in zip(*rounds, strict=True))
    size = (source / "model.safetensors").stat().st_size
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    print(
        f"file: {size / 1e9:.2f} GB; median cp {copied:.2f} s, convert {converted:.2f} s"
    )
    print(f"ratio of speeds, convert to cp: {copied / converted:.2f}")
    print(f"peak memory of the conversion: {peak} MiB")


def _warm(path: Path) -> None:
    """Read `path`: where the cache has lost it, `cp` takes four times as long."""
    with path.open("rb", 0) as file:
        while file.read(1 << 24):
            pass


def _timed(work: Callable[[], None]) -> float:
    os.sync()
    started = time.monotonic()
    work()
    return time.monotonic() - started


def _cp(source: Path, target: Path) -> None:
    subprocess.run(["cp", "--reflink=never", source, target], check=True)  # noqa: S607
    with target.open("rb") as file:
        os.fsync(file.fileno())


def _convert(source: Path, target: Path, python: str) -> None:
    command = [
        sys.executable,
        "-m",
        "scripts.weights",
        "convert",
        str(source),
        str(target),
    ]
    environ = {**os.environ, "BUNDLE_ENGINE_PYTHON": python}
    subprocess.run(command, check=True, env=environ, stdout=subprocess.DEVNULL)


def _make(folder: Path) -> None:
    folder.mkdir(parents=True)
    config = REAL.config | CHANGED
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "qwen.tiktoken").write_bytes(tiktoken_file(vocabulary(REAL_RANKS)))
    tensors, position = [], 0
    for name, shape in expected_shapes(network(config)).items():
        size = 2 * shape[0] * (shape[1] if len(shape) > 1 else 1)
        tensors.append(Tensor(name, "BF16", shape, position, position + size))
        position += size
    source = random.Random(1)
    with (folder / "model.safetensors").open("wb") as file:
        file.write(encode(tensors, {"format": "pt"}))
        for begin in range(0, position, 1 << 24):
            file.write(source.randbytes(min(1 << 24, position - begin)))


def _no_tokenizer(folder: Path) -> str:
    path = folder / "bench-no-tokenizer"
    path.write_text('#!/bin/sh\necho "{}" > "$4/tokenizer.json"\n')
    path.chmod(0o755)
    return str(path)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()))
