"""A whole conversion, with a stand-in for the tokenizer's Python."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING

import pytest

from bundle import manifest
from bundle.errors import CouldNotRun
from scripts.weights.convert import convert
from scripts.weights.safetensors import read_header
from tests.fixtures.qwen1 import Small, Weights, make, random_weights, write_weights

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

INDEX = "model.safetensors.index.json"
TINY = Small(ranks=300, hidden=32)


@pytest.fixture
def python(tmp_path: Path) -> str:
    """Give a program that writes tokenizer.json as `-m scripts.weights.tokenizer`."""
    return program(tmp_path, 'echo "{}" > "$4/tokenizer.json"')


def program(folder: Path, does: str) -> str:
    """Write a shell script that stands for the engine's Python."""
    path = folder / "engine-python"
    path.write_text(f"#!/bin/sh\n{does}\n")
    path.chmod(0o755)
    return str(path)


def tensors(folder: Path) -> Weights:
    """Read every tensor of a folder: its dtype, shape and bytes."""
    found = {}
    for path in sorted(folder.glob("*.safetensors")):
        header, raw = read_header(path), path.read_bytes()
        for tensor in header.tensors:
            data = raw[header.data_start + tensor.begin : header.data_start + tensor.end]
            found[tensor.name] = (tensor.dtype, tensor.shape, data)
    return found


def refused(source: Path, target: Path, python: str) -> str:
    """Convert, expect a refusal that leaves nothing, and give its text."""
    before = sorted(source.parent.iterdir())
    with pytest.raises(CouldNotRun) as caught:
        convert(source, target, None, python)
    assert sorted(source.parent.iterdir()) == before
    return str(caught.value)


@pytest.mark.parametrize("dtype", ["BF16", "F16", "F32"])
@pytest.mark.parametrize("shards", [1, 3])
def test_every_byte_arrives_under_its_new_name(
    tmp_path: Path, python: str, dtype: str, shards: int
) -> None:
    small = Small(dtype=dtype, shards=shards, ranks=300, hidden=32)
    source = make(tmp_path / "source", small)

    convert(source, tmp_path / "native", None, python)

    old, new = random_weights(small), tensors(tmp_path / "native")
    assert len(new) == 3 + 2 * 12
    assert new["model.embed_tokens.weight"] == old["transformer.wte.weight"]
    assert (
        new["model.layers.1.mlp.gate_proj.weight"] == old["transformer.h.1.mlp.w2.weight"]
    )
    assert (
        new["model.layers.1.mlp.up_proj.weight"] == old["transformer.h.1.mlp.w1.weight"]
    )
    for kind in ("weight", "bias"):
        parts = [new[f"model.layers.0.self_attn.{part}_proj.{kind}"] for part in "qkv"]
        stacked = old[f"transformer.h.0.attn.c_attn.{kind}"]
        assert b"".join(data for _, _, data in parts) == stacked[2]
        assert {part[1] for part in parts} == {(32, *stacked[1][1:])}


def test_the_manifest_tells_all_and_is_true(tmp_path: Path, python: str) -> None:
    source = make(tmp_path / "source", Small(shards=2, ranks=300, hidden=32))

    convert(source, tmp_path / "native", None, python)

    assert manifest.check(tmp_path / "native", hashes=True) == []
    read = manifest.read(tmp_path / "native")
    assert isinstance(read, manifest.Manifest)
    assert read.inputs == {
        name: manifest.sha256(source / name)
        for name in (
            *("config.json", "generation_config.json", "qwen.tiktoken", INDEX),
            *("LICENSE", "NOTICE"),
            *(f"model-0000{n}-of-00002.safetensors" for n in (1, 2)),
        )
    }
    assert read.source == {"folder": "source"}


def test_the_source_of_a_fetched_folder_is_kept(tmp_path: Path, python: str) -> None:
    source = make(tmp_path / "source", TINY)
    manifest.write(source, {"id": "qwen/Qwen-1_8B-Chat", "revision": "v1"})

    convert(source, tmp_path / "native", None, python)

    read = manifest.read(tmp_path / "native")
    assert isinstance(read, manifest.Manifest)
    assert read.source == {"id": "qwen/Qwen-1_8B-Chat", "revision": "v1"}


def test_a_byte_that_changed_since_the_fetch_is_found(
    tmp_path: Path, python: str
) -> None:
    source = make(tmp_path / "source", TINY)
    manifest.write(source, {"id": "made"})
    weights = bytearray((source / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (source / "model.safetensors").write_bytes(weights)

    text = refused(source, tmp_path / "native", python)

    assert "not what its manifest says" in text


def test_licences_travel_with_the_weights(tmp_path: Path, python: str) -> None:
    source = make(tmp_path / "source", TINY)

    convert(source, tmp_path / "native", None, python)

    for name in ("LICENSE", "NOTICE"):
        assert (tmp_path / "native" / name).read_bytes() == (source / name).read_bytes()


def test_shards_keep_their_boundaries(tmp_path: Path, python: str) -> None:
    source = make(tmp_path / "source", Small(shards=3, ranks=300, hidden=32))

    convert(source, tmp_path / "native", None, python)

    index = json.loads((tmp_path / "native" / INDEX).read_text())
    new = tensors(tmp_path / "native")
    assert index["weight_map"].keys() == new.keys()
    assert index["metadata"]["total_size"] == sum(
        len(data) for _, _, data in new.values()
    )
    for name, file in index["weight_map"].items():
        names = {t.name for t in read_header(tmp_path / "native" / file).tensors}
        assert name in names


def test_computed_frequencies_are_left_out(tmp_path: Path, python: str) -> None:
    source = make(tmp_path / "source", TINY)
    old = random_weights(TINY)
    first = {"transformer.rotary_emb.inv_freq": ("F32", (2,), bytes(8))}
    write_weights(source, first | old)

    convert(source, tmp_path / "native", None, python)

    new = tensors(tmp_path / "native")
    assert len(new) == 3 + 2 * 12
    assert new["model.embed_tokens.weight"] == old["transformer.wte.weight"]
    assert manifest.check(tmp_path / "native", hashes=True) == []


def test_values_that_are_no_numbers_are_copied_as_they_are(
    tmp_path: Path, python: str
) -> None:
    source = make(tmp_path / "source", TINY)
    old = random_weights(TINY)
    dtype, shape, data = old["lm_head.weight"]
    old["lm_head.weight"] = (
        dtype,
        shape,
        b"\xff\xff\x80\x7f" + data[4:],
    )  # NaN, infinity
    write_weights(source, old)

    convert(source, tmp_path / "native", None, python)

    assert tensors(tmp_path / "native")["lm_head.weight"] == old["lm_head.weight"]


def _huge_header(source: Path) -> None:
    (source / "model.safetensors").write_bytes(struct.pack("<Q", 10**18))


def _truncated(source: Path) -> None:
    path = source / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1])


def _wrong_shape(source: Path) -> None:
    weights = random_weights(TINY)
    dtype, _, data = weights["transformer.h.0.attn.c_attn.weight"]
    weights["transformer.h.0.attn.c_attn.weight"] = (dtype, (32, 96), data)
    write_weights(source, weights)


def _pickles(source: Path) -> None:
    (source / "model.safetensors").rename(source / "pytorch_model.bin")


def _index_outside(source: Path) -> None:
    places = {"lm_head.weight": "../source/model.safetensors"}
    (source / INDEX).write_text(json.dumps({"weight_map": places}))


def _index_of_another(source: Path) -> None:
    places = {"lm_head.weight": "model.safetensors"}
    (source / INDEX).write_text(json.dumps({"weight_map": places}))


def _no_vocabulary(source: Path) -> None:
    (source / "qwen.tiktoken").unlink()


def _large_vocabulary(source: Path) -> None:
    config = json.loads((source / "config.json").read_text())
    (source / "config.json").write_text(json.dumps(config | {"vocab_size": 301}))


def _broken_config(source: Path) -> None:
    (source / "config.json").write_text("{")


def _huge_config(source: Path) -> None:
    (source / "config.json").write_text("{}" + " " * (5 << 20))


def _quantised(source: Path) -> None:
    config = json.loads((source / "config.json").read_text())
    config["quantization_config"] = {"bits": 4, "quant_method": "gptq"}
    (source / "config.json").write_text(json.dumps(config))


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (_huge_header, "longer than the file"),
        (_truncated, "its data at"),
        (_wrong_shape, "c_attn.weight is [32, 96] of BF16, not [96, 32]"),
        (_pickles, "pytorch_model.bin, a pickle that can run code"),
        (_index_outside, "'../source/model.safetensors', which is no file"),
        (_index_of_another, "and the shards differ"),
        (_no_vocabulary, "qwen.tiktoken cannot be read"),
        (_large_vocabulary, "makes 508 tokens, vocab_size is 301"),
        (_broken_config, "its JSON cannot be read"),
        (_huge_config, "has over"),
        (_quantised, "quantization_config is"),
    ],
)
def test_what_cannot_be_converted_is_refused_and_nothing_is_written(
    tmp_path: Path, python: str, damage: Callable[[Path], None], reason: str
) -> None:
    source = make(tmp_path / "source", TINY)
    damage(source)

    assert reason in refused(source, tmp_path / "native", python)


def test_a_tokenizer_that_fails_leaves_the_old_folder_as_it_was(tmp_path: Path) -> None:
    source, native = make(tmp_path / "source", TINY), tmp_path / "native"
    native.mkdir()
    (native / "old").write_text("old")
    python = program(tmp_path, "echo 'error: no tiktoken' >&2; exit 2")

    text = refused(source, native, python)

    assert "the tokenizer was not converted: no tiktoken" in text
    assert [path.name for path in native.iterdir()] == ["old"]


def test_a_python_that_is_not_there_is_named(tmp_path: Path) -> None:
    source = make(tmp_path / "source", TINY)

    assert "/nope does not run" in refused(source, tmp_path / "native", "/nope")


@pytest.mark.parametrize("target", ["source", "source/native", "."])
def test_a_target_that_would_replace_the_source_is_refused(
    tmp_path: Path, python: str, target: str
) -> None:
    source = make(tmp_path / "source", TINY)

    assert "are one folder, or one holds" in refused(source, tmp_path / target, python)


def test_converting_again_replaces_what_was_there(tmp_path: Path, python: str) -> None:
    source = make(tmp_path / "source", TINY)
    convert(source, tmp_path / "native", None, python)
    (tmp_path / "native/stray").write_text("left")

    convert(source, tmp_path / "native", None, python)

    assert not (tmp_path / "native/stray").exists()
    assert manifest.check(tmp_path / "native", hashes=True) == []
