"""A plain forward pass: the reference, too short for a fault to hide in.

Qwen2's and Llama's networks are one but for the biases of q, k and v. Qwen-1's is
Qwen2's under other names, which `scripts.weights.qwen1` knows. No library's model code:
transformers 5 leaves Qwen-1's own code with uninitialised buffers and says nothing
(transformers#48892).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - part of a public signature
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn import functional

from bundle.errors import CouldNotRun, Problem
from scripts.weights import qwen1_config
from scripts.weights.qwen1 import native_tensors
from scripts.weights.safetensors import read_header

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scripts.parity.metrics import Array

_TORCH = {"BF16": torch.bfloat16, "F16": torch.float16, "F32": torch.float32}
_KNOWN = ("Qwen2ForCausalLM", "LlamaForCausalLM")


@dataclass(frozen=True)
class Network:
    """A checkpoint in memory, its tensors by Qwen2's names, all of one dtype."""

    config: dict[str, Any]
    weights: dict[str, torch.Tensor]
    dtype: torch.dtype


def load(folder: Path, dtype: str) -> Network:
    """Read config.json and every safetensors file; `dtype` as in `bundle.model.Dtype`.

    Raises:
        CouldNotRun: it is no Qwen-1, Qwen2 or Llama network, or has scaled positions.
    """
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    kind = (config.get("architectures") or ["none"])[0]
    is_original = kind == qwen1_config.ARCHITECTURE
    if is_original:
        config = qwen1_config.native_config(config, "F32", (0, 0, 0))
    rope = _rope(config)
    if (kind not in _KNOWN and not is_original) or rope["rope_type"] != "default":
        what = f"{folder} is {kind} with {rope['rope_type']} rotary positions"
        raise CouldNotRun(Problem(what, f"name one of {', '.join(_KNOWN)}, not scaled"))
    kinds = getattr(torch, dtype)
    weights = {
        name: tensor.to(kinds)
        for path in sorted(folder.glob("*.safetensors"))
        for name, tensor in _tensors(path, is_original=is_original)
    }
    return Network({**config, **rope}, weights, kinds)


def passage(network: Network, ids: Sequence[int]) -> tuple[Array, Array]:
    """Give log-probabilities after each of `ids` and the states after the last norm.

    Both are float64: (len(ids), vocabulary) and (len(ids), hidden size).
    """
    with torch.inference_mode():
        states = _states(network, torch.tensor(ids))
        head = (
            "model.embed_tokens" if network.config["tie_word_embeddings"] else "lm_head"
        )
        logits = functional.linear(states, network.weights[f"{head}.weight"])
        logs = torch.log_softmax(logits.double(), dim=-1).numpy()
        return logs, np.asarray(states.double().numpy())


def _states(network: Network, ids: torch.Tensor) -> torch.Tensor:
    weights, config = network.weights, network.config
    angles = _angles(config, len(ids))
    cos, sin = angles.cos().to(network.dtype), angles.sin().to(network.dtype)
    x = weights["model.embed_tokens.weight"][ids]
    for number in range(config["num_hidden_layers"]):
        layer = f"model.layers.{number}."
        part = {k[len(layer) :]: v for k, v in weights.items() if k.startswith(layer)}
        y = _norm(x, part["input_layernorm.weight"], config["rms_norm_eps"])
        x = x + _attention(y, part, config, cos, sin)
        y = _norm(x, part["post_attention_layernorm.weight"], config["rms_norm_eps"])
        gate = functional.silu(_linear(y, part, "mlp.gate_proj"))
        x = x + _linear(gate * _linear(y, part, "mlp.up_proj"), part, "mlp.down_proj")
    return _norm(x, weights["model.norm.weight"], config["rms_norm_eps"])


def _attention(
    x: torch.Tensor,
    part: dict[str, torch.Tensor],
    config: dict[str, Any],
    cos: torch.Tensor,
    sin: torch.Tensor,
) -> torch.Tensor:
    width = _head_width(config)
    q, k, v = (
        _linear(x, part, f"self_attn.{name}_proj").view(len(x), -1, width).transpose(0, 1)
        for name in "qkv"
    )
    q, k = _turn(q, cos, sin), _turn(k, cos, sin)
    # Query heads share the key and value heads in groups.
    k, v = (t.repeat_interleave(len(q) // len(t), dim=0) for t in (k, v))
    scores = (q @ k.transpose(1, 2)).float() / width**0.5
    later = torch.ones(len(x), len(x), dtype=torch.bool).triu(1)
    shares = scores.masked_fill(later, float("-inf")).softmax(-1).to(x.dtype)
    return _linear((shares @ v).transpose(0, 1).flatten(1), part, "self_attn.o_proj")


def _linear(x: torch.Tensor, part: dict[str, torch.Tensor], name: str) -> torch.Tensor:
    return functional.linear(x, part[f"{name}.weight"], part.get(f"{name}.bias"))


def _norm(x: torch.Tensor, weight: torch.Tensor, epsilon: float) -> torch.Tensor:
    wide = x.float()
    scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + epsilon)
    return weight * (wide * scale).to(x.dtype)


def _turn(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Turn pairs (i, i + width/2) by the position's angles: Su et al. (2021), eq. 34."""
    low, high = x.chunk(2, dim=-1)
    return torch.cat([low * cos - high * sin, high * cos + low * sin], dim=-1)


def _angles(config: dict[str, Any], positions: int) -> torch.Tensor:
    steps = torch.arange(0, _head_width(config), 2).float() / _head_width(config)
    return torch.outer(torch.arange(positions).float(), config["rope_theta"] ** -steps)


def _head_width(config: dict[str, Any]) -> int:
    wide = config["hidden_size"] // config["num_attention_heads"]
    return int(config.get("head_dim") or wide)


def _rope(config: dict[str, Any]) -> dict[str, Any]:
    """Give theta and type, which transformers 5 writes into a part of their own."""
    found = config.get("rope_parameters") or config.get("rope_scaling") or {}
    theta = found.get("rope_theta", config.get("rope_theta", 10000.0))
    return {"rope_theta": theta, "rope_type": found.get("rope_type", "default")}


def _tensors(path: Path, *, is_original: bool) -> Iterator[tuple[str, torch.Tensor]]:
    header = read_header(path)
    with path.open("rb") as file:
        for tensor in native_tensors(header.tensors) if is_original else header.tensors:
            file.seek(header.data_start + tensor.begin)
            data = bytearray(file.read(tensor.end - tensor.begin))
            values = torch.frombuffer(data, dtype=_TORCH[tensor.dtype])
            yield tensor.name, values.view(tensor.shape)
