"""How much memory a model needs, computed from its own files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bundle.errors import Problem
from bundle.host import GIB

if TYPE_CHECKING:
    from pathlib import Path

    from bundle.model import Dtype

_BYTES: dict[Dtype, int] = {"bfloat16": 2, "float16": 2, "float32": 4}

# What the engine holds besides weights and KV cache: Python, torch, buffers. Seen with
# vLLM 0.23.0 on the CPU: 10.5 GB resident for 3.7 GB of weights and a 4 GiB cache.
ENGINE_BYTES = 5 * GIB // 2


def weights_bytes(folder: Path) -> int:
    """Bytes of all weight files in `folder`."""
    return sum(path.stat().st_size for path in folder.glob("*.safetensors"))


def kv_bytes_per_token(folder: Path, dtype: Dtype) -> int:
    """Bytes of KV cache per token: keys and values of every layer and KV head.

    2 x layers x KV heads x head size x bytes per number, from `config.json`.
    """
    config: dict[str, Any] = json.loads((folder / "config.json").read_text())
    heads = config["num_attention_heads"]
    kv_heads = config.get("num_key_value_heads") or heads
    head_size = config.get("head_dim") or config["hidden_size"] // heads
    return int(2 * config["num_hidden_layers"] * kv_heads * head_size * _BYTES[dtype])


def longest_context(folder: Path) -> int | None:
    """Tokens that the model takes at most, as vLLM reads `config.json`; None: unknown."""
    config: dict[str, Any] = json.loads((folder / "config.json").read_text())
    rope = config.get("rope_scaling") or config.get("rope_parameters") or {}
    if rope.get("rope_type", rope.get("type", "default")) != "default":
        return None  # it stretches the context, each kind in its own way
    known = [config.get(key) for key in ("max_position_embeddings", "seq_length")]
    return min([length for length in known if isinstance(length, int)], default=None)


def shortage(
    name: str, weights: int, cache: int, free: int, replicas: int = 1
) -> Problem | None:
    """Say that `free` bytes are too few for the model `name`, and what needs them.

    `weights` and `cache` are the bytes of one replica; what its engine itself takes
    comes on top.
    """
    need = (weights + cache + ENGINE_BYTES) * replicas
    if free >= need:
        return None
    each = f" for each of {replicas} replicas" if replicas > 1 else ""
    return Problem(
        f"{gib(free)} of memory are free; {name} needs {gib(need)}: weights "
        f"{gib(weights)}, KV cache {gib(cache)}, engine {gib(ENGINE_BYTES)}{each}",
        "end other programs, or take a smaller model",
    )


def gib(count: float) -> str:
    """Format `count` bytes in GiB, one decimal."""
    return f"{count / GIB:.1f} GiB"
