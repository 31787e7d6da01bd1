"""The header reader takes what is sound and nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bundle.errors import CouldNotRun
from scripts.weights.safetensors import (
    Header,
    Tensor,
    encode,
    header_length,
    parse,
    read_header,
    split,
)
from scripts.weights.strict_json import MAX_JSON, Malformed

if TYPE_CHECKING:
    from pathlib import Path


def entry(
    begin: int = 0, end: int = 8, shape: object = (2, 2), dtype: object = "BF16"
) -> dict[str, object]:
    """Describe a tensor as a header does."""
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def header(entries: object) -> bytes:
    """Give the JSON of a header."""
    return json.dumps(entries).encode()


def test_tensors_come_in_the_order_of_their_data() -> None:
    raw = header({"b": entry(8, 16), "__metadata__": {"format": "pt"}, "a": entry()})

    read = parse(raw, 16)

    assert [tensor.name for tensor in read.tensors] == ["a", "b"]
    assert read.metadata == {"format": "pt"}
    assert read.data_start == 8 + len(raw)


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ([], "not an object"),
        ({"a": entry(-8, 0)}, "no sizes"),
        ({"a": entry(8, 0)}, "do not fill"),
        ({"a": entry(0, 6)}, "do not fill"),
        ({"a": entry(shape=[2, 3])}, "do not fill"),
        ({"a": entry(shape=[2, -2])}, "no sizes"),
        ({"a": entry(shape=[2.0, 2])}, "no sizes"),
        ({"a": entry(shape=[True, 4])}, "no sizes"),
        ({"a": entry(shape=4)}, "no sizes"),
        ({"a": entry(shape=[1] * 9)}, "no sizes"),
        ({"a": entry(shape=[10**30, 0])}, "no sizes"),
        ({"a": entry(dtype="X9")}, "unknown dtype 'X9'"),
        ({"a": entry(dtype=["BF16"])}, "unknown dtype"),
        ({"a": {**entry(), "more": 1}}, "not described"),
        ({"a": None}, "not described"),
        ({"a": entry(), "b": entry(4, 12)}, "overlaps"),
        ({"a": entry(), "b": entry()}, "overlaps"),
        ({"a": entry(), "b": entry(9, 17)}, "gap"),
        ({"a": entry(2, 10)}, "gap"),
        ({}, "end at byte 0, its data at 8"),
        ({"../a": entry()}, "no tensor name"),
        ({"a/b": entry()}, "no tensor name"),
        ({"a..b": entry()}, "no tensor name"),
        ({"": entry()}, "no tensor name"),
        ({"a\n": entry()}, "no tensor name"),
        ({"a": entry(), "__metadata__": {"x": 1}}, "__metadata__"),
        ({"a": entry(), "__metadata__": []}, "__metadata__"),
    ],
)
def test_what_is_not_sound_is_refused_with_its_reason(
    entries: object, reason: str
) -> None:
    with pytest.raises(Malformed, match=reason):
        parse(header(entries), 8)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b'{"a": 1, "a": 1}', "'a' appears twice"),
        (b'{"a": {"shape": [], "shape": []}}', "'shape' appears twice"),
        (b'{"a": ' + b"[" * 100_000, "cannot be read"),
        (b'{"a": ' + b"9" * 100_000 + b"}", "cannot be read|not described"),
        (b'\xff{"a": 1}', "cannot be read"),
        (b"", "cannot be read"),
    ],
)
def test_json_that_is_not_sound_is_refused_with_its_reason(
    raw: bytes, reason: str
) -> None:
    with pytest.raises(Malformed, match=reason):
        parse(raw, 8)


def test_a_header_longer_than_the_file_is_refused() -> None:
    with pytest.raises(Malformed, match="longer than the file"):
        header_length((93).to_bytes(8, "little"), 100)


def test_a_header_longer_than_any_of_this_network_is_refused() -> None:
    with pytest.raises(Malformed, match=f"at most {MAX_JSON} are read"):
        header_length((MAX_JSON + 1).to_bytes(8, "little"), 1 << 40)


def test_a_header_that_claims_a_billion_entries_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    with path.open("wb") as file:
        file.write((60_000_000_000).to_bytes(8, "little") + b'{"a":')
        file.truncate(1 << 37)  # sparse: takes no disk

    with pytest.raises(CouldNotRun, match="60000000000 bytes"):
        read_header(path)


@pytest.mark.parametrize("size", [0, 7])
def test_a_file_without_a_header_is_refused(tmp_path: Path, size: int) -> None:
    (tmp_path / "x").write_bytes(bytes(size))

    with pytest.raises(CouldNotRun, match="longer than the file"):
        read_header(tmp_path / "x")


def test_a_missing_file_is_no_traceback(tmp_path: Path) -> None:
    with pytest.raises(CouldNotRun, match="No such file"):
        read_header(tmp_path / "x")


def test_what_is_written_is_read_back_and_its_data_starts_aligned() -> None:
    tensors = (Tensor("a", "F32", (1, 3), 0, 12), Tensor("b.c", "F16", (2,), 12, 16))

    raw = encode(tensors, {"format": "pt"})

    read = parse(raw[8:], 16)
    assert read.tensors == tensors
    assert read.data_start == len(raw)
    assert len(raw) % 8 == 0


def test_a_cut_along_dimension_0_is_ranges_of_the_same_bytes() -> None:
    parts = split(Tensor("qkv", "BF16", (6, 5), 100, 160), ("q", "k", "v"))

    assert parts == (
        Tensor("q", "BF16", (2, 5), 100, 120),
        Tensor("k", "BF16", (2, 5), 120, 140),
        Tensor("v", "BF16", (2, 5), 140, 160),
    )


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)
_entries = st.dictionaries(
    st.sampled_from(["a", "b.c", "..", "a/b", "__metadata__", "x" * 300]),
    st.fixed_dictionaries(
        {
            "dtype": st.sampled_from(["BF16", "F32", "Q4"]) | _json,
            "shape": st.lists(st.integers(-1, 4), max_size=3) | _json,
            "data_offsets": st.lists(st.integers(-1, 40), min_size=2, max_size=2) | _json,
        }
    )
    | _json,
    max_size=4,
)


@given(st.binary(max_size=200) | st.builds(header, _json), st.integers(0, 100))
def test_any_bytes_are_read_or_refused(raw: bytes, data_bytes: int) -> None:
    _is_sound_or_refused(raw, data_bytes)


@given(_entries, st.integers(0, 64))
def test_any_entries_are_sound_or_refused(
    entries: dict[str, Any], data_bytes: int
) -> None:
    _is_sound_or_refused(header(entries), data_bytes)


def _is_sound_or_refused(raw: bytes, data_bytes: int) -> None:
    try:
        read = parse(raw, data_bytes)
    except Malformed as error:
        reason = str(error)
    else:
        reason = ""
        _check(read, data_bytes)
    assert reason.isprintable()


def _check(read: Header, data_bytes: int) -> None:
    ends = [0, *(tensor.end for tensor in read.tensors)]
    assert [tensor.begin for tensor in read.tensors] == ends[:-1]
    assert ends[-1] == data_bytes
    assert parse(encode(read.tensors, read.metadata)[8:], data_bytes) is not None
