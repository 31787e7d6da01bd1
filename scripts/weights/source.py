"""A Qwen-1 checkpoint, read and found fit to convert; nothing is written here."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - part of a public value
from typing import Any

from bundle.errors import CouldNotRun, Problem, raise_all
from scripts.weights.qwen1 import tensor_faults
from scripts.weights.qwen1_config import config_faults, network
from scripts.weights.safetensors import REMEDY, Header, Tensor, read_header
from scripts.weights.strict_json import MAX_JSON, Malformed, load_json
from scripts.weights.tokenizer import SPECIAL, VOCABULARY, count_ranks

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"

_SHARD = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*\.safetensors")
_NO_NATIVE = "serve it as it is on vLLM 0.23.0 (BUNDLE_WEIGHTS_FORMAT=original)"
_SHOWN = 8


@dataclass(frozen=True)
class Source:
    """A checkpoint that can be converted: its configs and its shards' headers."""

    folder: Path
    config: dict[str, Any]
    generation: dict[str, Any]
    shards: dict[str, Header]
    ranks: int

    @property
    def dtype(self) -> str:
        """Dtype of most of the bytes."""
        sizes: Counter[str] = Counter()
        for tensor in tensors_of(self.shards).values():
            sizes[tensor.dtype] += tensor.end - tensor.begin
        return sizes.most_common(1)[0][0]

    @property
    def stops(self) -> tuple[int, ...]:
        """Ids of the ends of a text and of a turn, and of a turn's start."""
        return (self.ranks, self.ranks + 2, self.ranks + 1)


def read_source(folder: Path) -> Source:
    """Read the checkpoint in `folder` and check everything but the tensors' values.

    Raises:
        CouldNotRun: with every problem that was found.
    """
    if not folder.is_dir():
        remedy = "name the folder of a Qwen-1 model, the one with its config.json"
        raise CouldNotRun(Problem(f"{folder} is no folder", remedy))
    config = _json(folder / "config.json")
    _refuse(folder / "config.json", config_faults(config))
    ranks = _ranks(folder / VOCABULARY, config["vocab_size"])
    shards = {name: read_header(folder / name) for name in _shard_names(folder)}
    tensors = tensors_of(shards)
    _refuse(folder, tensor_faults(tensors, network(config)))
    generation = folder / "generation_config.json"
    sampling = _json(generation) if generation.exists() else {}
    return Source(folder, config, sampling, shards, ranks)


def tensors_of(shards: dict[str, Header]) -> dict[str, Tensor]:
    """Give the tensors of all shards by name."""
    return {t.name: t for header in shards.values() for t in header.tensors}


def _refuse(path: Path, faults: list[str]) -> None:
    more = len(faults) - _SHOWN
    shown = faults[:_SHOWN] + ([f"{more} more like these"] if more > 0 else [])
    raise_all(CouldNotRun, (Problem(f"{path}: {text}", _NO_NATIVE) for text in shown))


def _shard_names(folder: Path) -> list[str]:
    if (folder / INDEX).exists():
        return _indexed(folder)
    if (folder / SINGLE).exists():
        return [SINGLE]
    if found := sorted(path.name for path in folder.glob("*.bin")):
        what = f"{folder} has its weights as {found[0]}, a pickle that can run code"
        remedy = "fetch the publisher's safetensors revision, or save it as safetensors"
    else:
        what = f"{folder} has neither {SINGLE} nor {INDEX}"
        remedy = REMEDY
    raise CouldNotRun(Problem(what, remedy))


def _indexed(folder: Path) -> list[str]:
    """Give the shards that the index names, whose tensors must be those it says."""
    path = folder / INDEX
    places = _json(path).get("weight_map")
    if not isinstance(places, dict) or not places:
        raise CouldNotRun(Problem(f"{path} has no weight_map", REMEDY))
    names = sorted({str(name) for name in places.values()})
    if bad := [name for name in names if not _SHARD.fullmatch(name)]:
        what = f"{path} names {bad[0][:200]!r}, which is no file of this folder"
        raise CouldNotRun(Problem(what, REMEDY))
    found = [(t.name, n) for n in names for t in read_header(folder / n).tensors]
    if sorted(found) != sorted((key, str(name)) for key, name in places.items()):
        wrong = sorted(set(found) ^ {(k, str(n)) for k, n in places.items()})
        tensor, name = wrong[0] if wrong else found[0]
        what = f"{path} and the shards differ: {tensor} in {name}"
        raise CouldNotRun(Problem(what, REMEDY))
    return names


def _ranks(path: Path, vocabulary: int) -> int:
    try:
        ranks = count_ranks(_read(path))
    except ValueError as error:
        raise CouldNotRun(Problem(f"{path}: {error}", REMEDY)) from error
    if (tokens := ranks + len(SPECIAL)) > vocabulary:
        what = f"{path} makes {tokens} tokens, vocab_size is {vocabulary}"
        raise CouldNotRun(Problem(what, REMEDY))
    return ranks


def _json(path: Path) -> dict[str, Any]:
    try:
        return load_json(_read(path))
    except Malformed as error:
        raise CouldNotRun(Problem(f"{path}: {error}", REMEDY)) from error


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_JSON + 1)
    except OSError as error:
        what = f"{path} cannot be read: {error.strerror}"
        raise CouldNotRun(Problem(what, REMEDY)) from error
    if len(raw) > MAX_JSON:
        raise CouldNotRun(Problem(f"{path} has over {MAX_JSON} bytes", REMEDY))
    return raw
