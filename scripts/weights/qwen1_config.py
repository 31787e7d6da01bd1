"""Qwen-1's config.json in Qwen2's words, and what these words cannot say.

Keys of the source are those of the publisher's configuration class,
https://huggingface.co/Qwen/Qwen-1_8B-Chat/blob/main/configuration_qwen.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

ARCHITECTURE = "QWenLMHeadModel"
# Qwen2 came with transformers 4.37.0. The key must be there: transformers 4.57 and 5
# warn of "an incorrect regex pattern" in a folder without it, and 4.57.6 also if it names
# a release between 4.57.3 and 5.0 (_patch_mistral_regex in tokenization_utils_base.py).
TRANSFORMERS_VERSION = "4.37.0"

_TORCH_NAMES = {"BF16": "bfloat16", "F16": "float16", "F32": "float32"}
_SIZES = (
    "hidden_size",
    "intermediate_size",
    "num_attention_heads",
    "num_hidden_layers",
    "vocab_size",
)
# Keys that must have one of these values where they are there at all; anything else is
# a network that the native form does not describe.
_ONLY: dict[str, tuple[object, ...]] = {
    "model_type": ("qwen",),
    "no_bias": (True,),
    "rotary_pct": (1,),
    "partial_rotary_factor": (1,),
    "rope_scaling": (None,),
    "quantization_config": (None,),
    "visual": (),
    "audio": (),
    "activation": ("swiglu", "silu"),
    "hidden_act": ("swiglu", "silu"),
    "pos_emb": ("rotary",),
    "scale_attn_weights": (True,),
    "apply_residual_connection_post_layernorm": (False,),
}


@dataclass(frozen=True)
class Network:
    """Sizes of the network, in Qwen2's meaning: `intermediate` is one of gate and up."""

    hidden: int
    intermediate: int
    heads: int
    layers: int
    vocabulary: int
    tied: bool


def config_faults(config: Mapping[str, Any]) -> list[str]:
    """Say everything in a Qwen-1 `config` that the native form cannot express."""
    architectures = config.get("architectures")
    if architectures != [ARCHITECTURE]:
        return [f"architectures is {architectures!r}, not [{ARCHITECTURE!r}]"]
    wrong = [
        f"{key} is {_short(config[key])}, {_wanted(values)}"
        for key, values in _ONLY.items()
        if key in config and not _is_one_of(config[key], values)
    ]
    wrong += [
        f"{key} is {_short(config.get(key))}, not a number above 0"
        for key in (*_SIZES, "layer_norm_epsilon", "rotary_emb_base", "seq_length")
        if not _is_positive(config.get(key), whole=key in (*_SIZES, "seq_length"))
    ]
    return wrong or _odd_sizes(config)


def network(config: Mapping[str, Any]) -> Network:
    """Give the sizes of a `config` without faults."""
    return Network(
        hidden=config["hidden_size"],
        # Qwen-1 counts gate and up together.
        intermediate=config["intermediate_size"] // 2,
        heads=config["num_attention_heads"],
        layers=config["num_hidden_layers"],
        vocabulary=config["vocab_size"],
        tied=bool(config.get("tie_word_embeddings", False)),
    )


def native_config(
    config: Mapping[str, Any], dtype: str, stops: tuple[int, ...]
) -> dict[str, Any]:
    """Say the same in Qwen2's words; `stops` are the ids of text's and turn's end.

    The positions are those that the weights were trained for. Beyond them Qwen-1 used
    dynamic NTK scaling and logn attention, which vLLM computes in neither form.
    """
    sizes = network(config)
    return {
        "architectures": ["Qwen2ForCausalLM"],
        "attention_dropout": 0.0,
        "eos_token_id": stops[1],
        "hidden_act": "silu",
        "hidden_size": sizes.hidden,
        "initializer_range": config.get("initializer_range", 0.02),
        "intermediate_size": sizes.intermediate,
        "max_position_embeddings": config["seq_length"],
        "max_window_layers": sizes.layers,
        "model_type": "qwen2",
        "num_attention_heads": sizes.heads,
        "num_hidden_layers": sizes.layers,
        "num_key_value_heads": sizes.heads,
        "pad_token_id": stops[0],
        "rms_norm_eps": config["layer_norm_epsilon"],
        "rope_theta": config["rotary_emb_base"],
        "tie_word_embeddings": sizes.tied,
        "torch_dtype": _TORCH_NAMES[dtype],
        "transformers_version": TRANSFORMERS_VERSION,
        "use_cache": True,
        "use_sliding_window": False,
        "vocab_size": sizes.vocabulary,
    }


def generation_config(
    source: Mapping[str, Any], stops: tuple[int, ...]
) -> dict[str, Any]:
    """Keep how the source samples, and end at every token that ends a reply.

    The source's max_new_tokens is left out: vLLM would cut every reply there.
    """
    return {
        "do_sample": source.get("do_sample", True),
        "eos_token_id": [stops[0], stops[1], stops[2]],
        "pad_token_id": stops[0],
        "repetition_penalty": source.get("repetition_penalty", 1.0),
        "top_k": source.get("top_k", 0),
        "top_p": source.get("top_p", 0.8),
        "transformers_version": TRANSFORMERS_VERSION,
    }


def _odd_sizes(config: Mapping[str, Any]) -> list[str]:
    hidden, heads = config["hidden_size"], config["num_attention_heads"]
    wide = config.get("kv_channels", hidden / heads) * heads
    groups = config.get("num_key_value_heads", heads)
    found = {
        f"intermediate_size is {config['intermediate_size']}, which has no half": (
            config["intermediate_size"] % 2
        ),
        f"{heads} heads are {wide:g} wide, hidden_size is {hidden}": wide != hidden,
        f"num_key_value_heads is {groups}, not {heads} as the heads": groups != heads,
    }
    return [text for text, is_wrong in found.items() if is_wrong]


def _wanted(values: tuple[object, ...]) -> str:
    if not values:
        return "and only text models are converted"
    return f"not {' or '.join(repr(value) for value in values)}"


def _is_one_of(value: object, values: tuple[object, ...]) -> bool:
    return isinstance(value, (str, bool, int, float, type(None))) and value in values


def _is_positive(value: object, *, whole: bool) -> bool:
    kinds = (int,) if whole else (int, float)
    return type(value) in kinds and 0 < value < float("inf")  # type: ignore[operator]


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"  # noqa: PLR2004 - one line
