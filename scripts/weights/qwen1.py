"""Qwen-1's tensors under Qwen2's names: the same network, the same bytes.

`c_attn` is q, k and v stacked along dimension 0; `w2` is the gate and `w1` the up
projection. No value is computed, so the two forms give equal results to the last bit.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from scripts.weights.safetensors import Tensor, split

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scripts.weights.qwen1_config import Network

DTYPES = ("BF16", "F16", "F32")

_OUTER = {
    "transformer.wte.weight": "model.embed_tokens.weight",
    "transformer.ln_f.weight": "model.norm.weight",
    "lm_head.weight": "lm_head.weight",
}
_INNER = {
    "ln_1.weight": "input_layernorm.weight",
    "attn.c_proj.weight": "self_attn.o_proj.weight",
    "ln_2.weight": "post_attention_layernorm.weight",
    "mlp.w1.weight": "mlp.up_proj.weight",
    "mlp.w2.weight": "mlp.gate_proj.weight",
    "mlp.c_proj.weight": "mlp.down_proj.weight",
}
_STACKED = {
    f"attn.c_attn.{kind}": tuple(f"self_attn.{part}_proj.{kind}" for part in "qkv")
    for kind in ("weight", "bias")
}
_LAYER = re.compile(r"transformer\.h\.(\d+)\.(.+)")
# Early exports carry the rotary frequencies, which every engine computes itself.
_COMPUTED = re.compile(r"transformer\.(h\.\d+\.attn\.)?rotary_emb\.inv_freq")


def expected_shapes(network: Network) -> dict[str, tuple[int, ...]]:
    """Give every tensor of a Qwen-1 checkpoint, by name, with its shape."""
    rows, wide = network.vocabulary, network.hidden
    outer: dict[str, tuple[int, ...]] = {
        "transformer.wte.weight": (rows, wide),
        "transformer.ln_f.weight": (wide,),
    }
    if not network.tied:
        outer["lm_head.weight"] = (rows, wide)
    return outer | {
        f"transformer.h.{layer}.{name}": shape
        for layer in range(network.layers)
        for name, shape in _layer_shapes(wide, network.intermediate).items()
    }


def tensor_faults(tensors: Mapping[str, Tensor], network: Network) -> list[str]:
    """Say which tensors are missing, unknown or of a wrong shape or dtype."""
    # Compared before the table is made: a config may claim any number of layers.
    if network.layers > len(tensors):
        return [f"num_hidden_layers is {network.layers} for {len(tensors)} tensors"]
    shapes = expected_shapes(network)
    found = {name: tensor for name, tensor in tensors.items() if is_kept(name)}
    missing = [f"{name} is missing" for name in shapes if name not in found]
    unknown = [
        f"{name} has no place in the native form"
        for name in found
        if name not in shapes and not (network.tied and name == "lm_head.weight")
    ]
    wrong = [
        f"{name} is {_described(found[name])}, not {list(shape)} of {'/'.join(DTYPES)}"
        for name, shape in shapes.items()
        if name in found
        and (found[name].shape != shape or found[name].dtype not in DTYPES)
    ]
    return [*missing, *unknown, *wrong]


def is_kept(name: str) -> bool:
    """Whether the tensor is part of the native form."""
    return not _COMPUTED.fullmatch(name)


def native_tensors(tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """Give the tensors that are kept, renamed and cut, where they lie in the source."""
    return tuple(part for tensor in tensors for part in _native(tensor))


def moved_together(tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """Close the gaps that tensors which are not kept left between the others."""
    moved: list[Tensor] = []
    position = 0
    for tensor in tensors:
        end = position + tensor.end - tensor.begin
        moved.append(replace(tensor, begin=position, end=end))
        position = end
    return tuple(moved)


def _native(tensor: Tensor) -> tuple[Tensor, ...]:
    if not is_kept(tensor.name):
        return ()
    if outer := _OUTER.get(tensor.name):
        return (replace(tensor, name=outer),)
    match = _LAYER.fullmatch(tensor.name)
    if match is None:  # cannot be: tensor_faults has refused it
        raise KeyError(tensor.name)
    layer = f"model.layers.{int(match[1])}."
    if stacked := _STACKED.get(match[2]):
        return split(tensor, tuple(layer + name for name in stacked))
    return (replace(tensor, name=layer + _INNER[match[2]]),)


def _layer_shapes(wide: int, intermediate: int) -> dict[str, tuple[int, ...]]:
    return {
        "ln_1.weight": (wide,),
        "attn.c_attn.weight": (3 * wide, wide),
        "attn.c_attn.bias": (3 * wide,),
        "attn.c_proj.weight": (wide, wide),
        "ln_2.weight": (wide,),
        "mlp.w1.weight": (intermediate, wide),
        "mlp.w2.weight": (intermediate, wide),
        "mlp.c_proj.weight": (wide, intermediate),
    }


def _described(tensor: Tensor) -> str:
    return f"{list(tensor.shape)} of {tensor.dtype}"
