"""Convert a Qwen-1 checkpoint to the native form, which every later engine serves."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bundle import manifest
from bundle.errors import CouldNotRun, Problem
from scripts.weights import tokenizer
from scripts.weights.atomic import new_folder
from scripts.weights.provenance import digests, licences, origin
from scripts.weights.qwen1_config import generation_config, native_config
from scripts.weights.shards import native_index, write_shard
from scripts.weights.source import INDEX, Source, read_source

if TYPE_CHECKING:
    from bundle.model import Model

ROOT = Path(__file__).resolve().parents[2]
# Qwen-1's chat format is one, so this template serves a model that has no folder here.
DEFAULT_MODEL = "qwen-1_8b-chat"
TEMPLATE = "chat_template.jinja"

_SYSTEM = re.compile(r"(?<=set default_system = )'[^']*'")
_SPARE = 64 << 20  # bytes for tokenizer, configs and the file system itself


def convert(
    source: Path,
    target: Path,
    model: Model | None,
    engine_python: str,
    models_dir: Path = ROOT / "models",
) -> None:
    """Write the native form of the checkpoint in `source` to the folder `target`.

    `target` appears complete or not at all; what was there is replaced. `engine_python`
    is a Python with transformers, for the tokenizer; all else needs none.

    Raises:
        CouldNotRun: the source cannot be converted, or reading or writing failed.
    """
    _check_places(source, target)
    checkpoint = read_source(source)
    _check_disk(checkpoint, target)
    template = chat_template(model, models_dir)
    try:
        with new_folder(target) as partial:
            (partial / TEMPLATE).write_text(template, encoding="utf-8")
            _write_configs(checkpoint, partial)
            _write_tokenizer(source, partial, engine_python)
            _copy_licences(source, partial)
            _write_weights(checkpoint, partial, target.name)
    except OSError as error:
        what = f"{error.filename or target} cannot be converted: {error.strerror}"
        remedy = "free some disk or mend the folder's rights, and run the same again"
        raise CouldNotRun(Problem(what, remedy)) from error
    _report(checkpoint, target)


def chat_template(model: Model | None, models_dir: Path) -> str:
    """Give ChatML with the model's system prompt, from its folder or the default one."""
    own = models_dir / (model.name if model else DEFAULT_MODEL) / TEMPLATE
    path = own if own.exists() else models_dir / DEFAULT_MODEL / TEMPLATE
    text = path.read_text(encoding="utf-8")
    if model is None:
        return text
    quoted = model.chat.system_prompt.replace("\\", "\\\\").replace("'", "\\'")
    return _SYSTEM.sub(lambda _: f"'{quoted}'", text.replace("\r\n", "\n"))


def _check_places(source: Path, target: Path) -> None:
    inner, outer = source.resolve(), target.resolve()
    if inner == outer or outer in inner.parents or inner in outer.parents:
        what = f"{target} and {source} are one folder, or one holds the other"
        raise CouldNotRun(Problem(what, "name a target beside the source"))


def _check_disk(checkpoint: Source, target: Path) -> None:
    place = next(path for path in target.resolve().parents if path.exists())
    free = shutil.disk_usage(place).free
    need = sum(h.data_start + h.data_bytes for h in checkpoint.shards.values()) + _SPARE
    if free < need:
        what = f"{free >> 20} MiB are free in {place}, {need >> 20} MiB are needed"
        raise CouldNotRun(Problem(what, "free some disk, or name a target elsewhere"))


def _write_configs(checkpoint: Source, target: Path) -> None:
    stops = checkpoint.stops
    config = native_config(checkpoint.config, checkpoint.dtype, stops)
    _write_json(target / "config.json", config)
    _write_json(
        target / "generation_config.json", generation_config(checkpoint.generation, stops)
    )
    context = config["max_position_embeddings"]
    _write_json(target / "tokenizer_config.json", tokenizer.settings(context))


def _write_tokenizer(source: Path, target: Path, engine_python: str) -> None:
    folders = [str(source.resolve()), str(target.resolve())]
    command = [engine_python, "-m", "scripts.weights.tokenizer", *folders]
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=False
        )
    except OSError as error:
        said = f"{engine_python} does not run: {error.strerror}"
    else:
        said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        if done.returncode == 0:
            return
    what = f"the tokenizer was not converted: {said.removeprefix('error: ')}"
    remedy = "set BUNDLE_ENGINE_PYTHON to the Python that has transformers and tiktoken"
    raise CouldNotRun(Problem(what, remedy))


def _copy_licences(source: Path, target: Path) -> None:
    for path in licences(source):
        shutil.copyfile(path, target / path.name)


def _write_weights(checkpoint: Source, target: Path, name: str) -> None:
    read, written = {}, {}
    for shard, header in checkpoint.shards.items():
        print(f"converting {shard} of {name}", flush=True)
        sums = write_shard(checkpoint.folder / shard, target / shard, header)
        read[shard], written[shard] = sums.source, sums.target
    if (checkpoint.folder / INDEX).exists():
        _write_json(target / INDEX, native_index(checkpoint.shards))
    inputs = read | digests(checkpoint.folder)
    manifest.write(target, origin(checkpoint.folder, inputs), inputs, written)


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def _report(checkpoint: Source, target: Path) -> None:
    context = checkpoint.config["seq_length"]
    print(
        f"native form written: {target}",
        f"  context: {context} tokens, what the weights were trained for; dynamic NTK "
        "and logn attention beyond that are in no form that vLLM computes",
        sep="\n",
        flush=True,
    )
