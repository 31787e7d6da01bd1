"""`python -m scripts.parity`: the engine's probabilities against a plain fp32 forward's.

`record` writes a golden file in place of a comparison; `--golden` compares with one,
`--server` over HTTP and without loading an engine.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from bundle import api, manifest, served_by
from bundle.errors import (
    CouldNotRun,
    ExitCode,
    Problem,
    WrongUsage,
    raise_all,
    run_command,
)
from bundle.model import load_model
from bundle.note import read_note
from bundle.served_by import ServedBy
from bundle.settings import load
from scripts.commandline import Parser, at_least_one
from scripts.output import prepare, write
from scripts.parity.handover import in_engine
from scripts.progress import progress

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from bundle.model import Dtype, Model, ParityLimits
    from bundle.settings import Settings
    from scripts.parity.result import Result

# One process, so that tensors can be taken; vLLM reads these when it is imported.
_ENVIRON = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_NO_USAGE_STATS": "1",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
}
# Only where the operator has set nothing; GiB of KV cache on the CPU.
_DEFAULTS = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_LOGGING_LEVEL": "WARNING"}


def main(words: Sequence[str], environ: Mapping[str, str]) -> int:
    """Compare or record; hand over to the engine's Python where torch is not here."""
    options = _parser().parse_args(words)
    if options.server and not options.golden:
        raise WrongUsage(Problem("--server was given alone", "add --golden FILE"))
    settings = load(environ)
    # A server is asked without an engine, and so without torch.
    needed = "numpy" if options.server else "torch"
    if find_spec(needed) is None:
        return in_engine(settings.engine_python, needed, words)
    model = load_model(settings.models_dir, settings.model)
    prepare(options.out)
    weights = options.weights or model.weights(settings.weights_dir, "native")
    sha256 = _sha256(weights, settings, options)
    dtype = options.dtype or _dtype(settings, model)
    if options.action == "record":
        return _record(options, weights, dtype, sha256)
    result = _compare(
        options, settings, model, weights=weights, dtype=dtype, sha256=sha256
    )
    return _told(result, options.out)


def _parser() -> Parser:
    parser = Parser("python -m scripts.parity", description=__doc__)
    parser.add_argument("action", nargs="?", choices=("compare", "record"))
    kinds = ("float32", "float16", "bfloat16")
    parser.add_argument("--dtype", choices=kinds, help="BUNDLE_DTYPE, else the CPU's")
    parser.add_argument("--weights", type=Path, help="a native folder with a manifest")
    parser.add_argument("--positions", type=at_least_one, help="about so many, not all")
    parser.add_argument("--golden", type=Path, help="a file that `record` wrote")
    parser.add_argument("--server", metavar="URL", help="ask a running server")
    parser.add_argument("--eager", action="store_true", help="without compilation")
    parser.add_argument("--out", type=Path, default=Path("var/parity"))
    return parser


def _sha256(weights: Path, settings: Settings, options: argparse.Namespace) -> str:
    """Give the hash of the weights' manifest; beside a server, the one it noted."""
    found = manifest.read(weights)
    if not isinstance(found, Problem):
        # What rounding hides is seen here: a wrong row, a flipped bit.
        raise_all(CouldNotRun, manifest.check(weights, hashes=True))
        return manifest.sha256(weights / manifest.MANIFEST)
    served = read_note(settings.run_dir / served_by.FILE, ServedBy)
    if options.server and served and served.manifest_sha256:
        return served.manifest_sha256
    raise CouldNotRun(found)


def _limits(model: Model, dtype: Dtype) -> ParityLimits:
    limits = model.thresholds.parity.get(dtype)
    if limits is None:
        what = f"{model.name}'s model.yaml has no thresholds.parity for {dtype}"
        raise CouldNotRun(Problem(what, "add them, or name another --dtype"))
    return limits


def _dtype(settings: Settings, model: Model) -> Dtype:
    if settings.dtype != "auto":
        return settings.dtype
    return model.serving["cpu"].dtype


def _record(options: argparse.Namespace, weights: Path, dtype: Dtype, sha256: str) -> int:
    from scripts.parity import golden, run, texts  # noqa: PLC0415 - need torch

    parts = texts.at_most(texts.passages(weights), options.positions)
    path = golden.save(run.record(weights, dtype, parts, sha256), options.out)
    print(f"{texts.positions(parts)} positions, noise floor in {dtype}: {path}")
    return ExitCode.GOOD


def _compare(
    options: argparse.Namespace,
    settings: Settings,
    model: Model,
    *,
    weights: Path,
    dtype: Dtype,
    sha256: str,
) -> Result:
    from scripts.parity import golden, http  # noqa: PLC0415 - need numpy

    show = progress("passages")
    recorded = golden.read(options.golden, sha256) if options.golden else None
    limits = _limits(model, recorded.about.dtype if recorded else dtype)
    if recorded and options.server:
        server = api.server(settings, http.TIMEOUT).at(options.server)
        return http.against_server(server, model.name, recorded, limits, show)

    from scripts.parity import run, texts  # noqa: PLC0415 - need torch
    from scripts.parity.engine import Engine  # noqa: PLC0415 - likewise

    if recorded:
        engine = Engine(weights, recorded.about.dtype, options.eager)
        return run.against_golden(engine, recorded, limits, show)
    parts = texts.at_most(texts.passages(weights), options.positions)
    engine = Engine(weights, dtype, options.eager)
    return run.against_plain(engine, parts, limits, sha256, show)


def _told(result: Result, out: Path) -> int:
    from scripts.parity import verdict  # noqa: PLC0415 - with the others

    path = write(out / "parity.json", result.model_dump_json(indent=2))
    print(f"{verdict.table(result)}\nresult: {path}")
    return ExitCode.GOOD if result.passed else ExitCode.CHECK_FAILED


if __name__ == "__main__":
    given = dict(os.environ)
    os.environ |= {**_DEFAULTS, **given, **_ENVIRON}
    sys.exit(run_command(lambda: main(sys.argv[1:], given)))
