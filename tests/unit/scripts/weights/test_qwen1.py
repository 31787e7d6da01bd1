"""Qwen-1's names and settings in Qwen2's words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from scripts.weights.qwen1 import (
    expected_shapes,
    moved_together,
    native_tensors,
    tensor_faults,
)
from scripts.weights.qwen1_config import (
    Network,
    config_faults,
    generation_config,
    native_config,
    network,
)
from scripts.weights.safetensors import Tensor
from tests.fixtures.qwen1 import GENERATION, Small

# As published with the models of these sizes.
SIZES = {
    "1.8B": (2048, 11008, 16, 24, 151936, 8192, 10000),
    "7B": (4096, 22016, 32, 32, 151936, 8192, 10000),
    "14B": (5120, 27392, 40, 40, 152064, 2048, 10000),
    "72B": (8192, 49152, 64, 80, 152064, 32768, 1000000),
}
STOPS = (151643, 151645, 151644)
TINY = Network(hidden=4, intermediate=6, heads=2, layers=1, vocabulary=10, tied=False)


def config(**changed: object) -> dict[str, Any]:
    """Give a sound config with some keys changed."""
    return Small(changed=changed).config


def tensors(sizes: Network, dtype: str = "BF16") -> dict[str, Tensor]:
    """Give every tensor that the network needs; their places do not matter."""
    return {
        name: Tensor(name, dtype, shape, 0, 0)
        for name, shape in expected_shapes(sizes).items()
    }


@pytest.mark.parametrize("size", SIZES)
def test_every_size_is_converted_from_its_own_numbers(size: str) -> None:
    hidden, intermediate, heads, layers, rows, positions, theta = SIZES[size]
    source = config(
        hidden_size=hidden,
        intermediate_size=intermediate,
        num_attention_heads=heads,
        num_hidden_layers=layers,
        kv_channels=128,
        vocab_size=rows,
        seq_length=positions,
        max_position_embeddings=32768,
        rotary_emb_base=theta,
    )

    native = native_config(source, "BF16", STOPS)

    assert config_faults(source) == []
    assert native["architectures"] == ["Qwen2ForCausalLM"]
    assert native["intermediate_size"] == intermediate // 2
    assert native["num_attention_heads"] == native["num_key_value_heads"] == heads
    assert native["num_hidden_layers"] == layers
    assert native["vocab_size"] == rows
    assert native["max_position_embeddings"] == positions
    assert native["rope_theta"] == theta
    assert native["torch_dtype"] == "bfloat16"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model_type", "qwen2"),
        ("visual", {"layers": 48}),
        ("visual", None),
        ("audio", {}),
        ("no_bias", False),
        ("rotary_pct", 0.5),
        ("rope_scaling", {"type": "linear"}),
        ("quantization_config", {"quant_method": "gptq"}),
        ("activation", "gelu"),
        ("hidden_act", "gelu"),
        ("scale_attn_weights", False),
        ("apply_residual_connection_post_layernorm", True),
        ("pos_emb", "alibi"),
        ("kv_channels", 32),
        ("num_key_value_heads", 1),
        ("intermediate_size", 511),
        ("intermediate_size", None),
        ("hidden_size", -128),
        ("hidden_size", "128"),
        ("num_hidden_layers", 2.0),
        ("num_attention_heads", 0),
        ("layer_norm_epsilon", 0),
        ("rotary_emb_base", float("nan")),
        ("rotary_emb_base", float("inf")),
        ("seq_length", True),
    ],
)
def test_what_the_native_form_cannot_say_is_refused_by_name(
    key: str, value: object
) -> None:
    (fault, *_) = config_faults(config(**{key: value}))

    name = "heads" if key == "kv_channels" else key
    assert name in fault


@pytest.mark.parametrize(
    "architectures", [None, [], "QWenLMHeadModel", ["Qwen2ForCausalLM"]]
)
def test_another_architecture_is_refused(architectures: object) -> None:
    assert "architectures is" in config_faults(config(architectures=architectures))[0]


def test_every_fault_is_reported_in_one_go() -> None:
    assert (
        len(config_faults(config(no_bias=False, rotary_pct=0.5, hidden_size=None))) == 3
    )


def test_a_config_of_nothing_is_refused() -> None:
    assert config_faults({})


def test_generation_keeps_the_sampling_and_drops_the_hidden_limit() -> None:
    native = generation_config({**GENERATION, "repetition_penalty": 1.05}, STOPS)

    assert native["eos_token_id"] == [151643, 151645, 151644]
    assert native["top_p"] == 0.8
    assert native["repetition_penalty"] == 1.05
    assert "max_new_tokens" not in native


def test_generation_without_a_source_ends_a_reply_too() -> None:
    native = generation_config({}, STOPS)

    assert native["eos_token_id"] == [151643, 151645, 151644]
    assert native["repetition_penalty"] == 1.0


def test_the_stacked_projection_becomes_q_k_and_v_in_this_order() -> None:
    stacked = Tensor("transformer.h.7.attn.c_attn.weight", "BF16", (6, 2), 100, 124)

    assert native_tensors([stacked]) == (
        Tensor("model.layers.7.self_attn.q_proj.weight", "BF16", (2, 2), 100, 108),
        Tensor("model.layers.7.self_attn.k_proj.weight", "BF16", (2, 2), 108, 116),
        Tensor("model.layers.7.self_attn.v_proj.weight", "BF16", (2, 2), 116, 124),
    )


@pytest.mark.parametrize(
    ("source", "native"),
    [
        ("transformer.wte.weight", "model.embed_tokens.weight"),
        ("transformer.ln_f.weight", "model.norm.weight"),
        ("lm_head.weight", "lm_head.weight"),
        ("transformer.h.0.ln_1.weight", "model.layers.0.input_layernorm.weight"),
        ("transformer.h.0.ln_2.weight", "model.layers.0.post_attention_layernorm.weight"),
        ("transformer.h.0.attn.c_proj.weight", "model.layers.0.self_attn.o_proj.weight"),
        ("transformer.h.0.mlp.w1.weight", "model.layers.0.mlp.up_proj.weight"),
        ("transformer.h.0.mlp.w2.weight", "model.layers.0.mlp.gate_proj.weight"),
        ("transformer.h.0.mlp.c_proj.weight", "model.layers.0.mlp.down_proj.weight"),
    ],
)
def test_a_tensor_has_its_place_in_the_native_form(source: str, native: str) -> None:
    tensor = Tensor(source, "F16", (2, 2), 8, 16)

    assert native_tensors([tensor]) == (replace(tensor, name=native),)


def test_computed_frequencies_are_left_out_and_their_gap_closes() -> None:
    kept = Tensor("lm_head.weight", "F32", (1,), 8, 12)
    computed = Tensor("transformer.rotary_emb.inv_freq", "F32", (2,), 0, 8)

    assert moved_together(native_tensors([computed, kept])) == (
        replace(kept, begin=0, end=4),
    )


def test_a_whole_checkpoint_has_no_fault() -> None:
    assert tensor_faults(tensors(TINY), TINY) == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"transformer.ln_f.weight": None}, "transformer.ln_f.weight is missing"),
        ({"lm_head.weight": None}, "lm_head.weight is missing"),
        (
            {"transformer.h.0.mlp.w1.bias": (6,)},
            "transformer.h.0.mlp.w1.bias has no place",
        ),
        ({"transformer.h.1.ln_1.weight": (4,)}, "transformer.h.1.ln_1.weight has no"),
        ({"transformer.h.0.attn.c_attn.qweight": (4,)}, "c_attn.qweight has no place"),
        ({"transformer.visual.proj": (4,)}, "transformer.visual.proj has no place"),
        ({"transformer.wte.weight": (11, 4)}, "is [11, 4] of BF16, not [10, 4]"),
        ({"transformer.h.0.attn.c_attn.bias": (12, 1)}, "c_attn.bias is"),
    ],
)
def test_a_tensor_that_is_not_as_the_config_says_is_refused_by_name(
    change: dict[str, tuple[int, ...] | None], fault: str
) -> None:
    found = tensors(TINY)
    for name, shape in change.items():
        found.pop(name, None)
        if shape:
            found[name] = Tensor(name, "BF16", shape, 0, 0)

    (only,) = tensor_faults(found, TINY)

    assert fault in only


def test_whole_numbers_are_no_weights() -> None:
    assert "of I32, not" in tensor_faults(tensors(TINY, "I32"), TINY)[0]


def test_tied_embeddings_need_no_second_matrix() -> None:
    tied = replace(TINY, tied=True)

    assert tensor_faults(tensors(tied), tied) == []
    assert tensor_faults(tensors(TINY), tied) == []


def test_a_claim_of_a_billion_layers_is_refused_at_once() -> None:
    huge = replace(TINY, layers=10**9)

    assert "num_hidden_layers is 1000000000" in tensor_faults(tensors(TINY), huge)[0]


def test_the_network_is_read_from_the_config() -> None:
    assert network(config()) == Network(
        hidden=128, intermediate=256, heads=2, layers=2, vocabulary=1208, tied=False
    )
