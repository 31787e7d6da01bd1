"""The header of a safetensors file, read and written as bytes.

The format: 8 bytes with the header's length (little-endian), the header as a JSON
object, then the tensors' data; https://github.com/huggingface/safetensors#format.
Neither torch nor numpy is needed to rename a tensor or to cut one along dimension 0.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bundle.errors import CouldNotRun, Problem
from scripts.weights.strict_json import MAX_JSON, Malformed, load_json

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

REMEDY = "fetch it again from its publisher; nothing was written"

_LENGTH = 8
_OFFSETS = 2
_MAX_DIMENSIONS, _MAX_SIZE = 8, 1 << 60  # beyond any tensor; their product stays cheap
_BYTES = {
    dtype: size
    for size, dtypes in {
        1: "F8_E4M3 F8_E5M2 I8 U8 BOOL",
        2: "F16 BF16 I16 U16",
        4: "F32 I32 U32",
        8: "F64 I64 U64",
    }.items()
    for dtype in dtypes.split()
}
_NAME = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")


@dataclass(frozen=True)
class Tensor:
    """A tensor: `begin` and `end` are bytes from the start of the file's data."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True)
class Header:
    """The tensors of a file in the order of their data, which starts at `data_start`."""

    tensors: tuple[Tensor, ...]
    metadata: dict[str, str]
    data_start: int

    @property
    def data_bytes(self) -> int:
        """Length of the data in bytes."""
        return self.tensors[-1].end if self.tensors else 0


def read_header(path: Path) -> Header:
    """Read and check the header of `path`; its data is not read.

    Raises:
        CouldNotRun: the file cannot be read, or its header is not sound.
    """
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            length = header_length(file.read(_LENGTH), size)
            return parse(file.read(length), size - _LENGTH - length)
    except OSError as error:
        what = f"{path} cannot be read: {error.strerror}"
        raise CouldNotRun(Problem(what, REMEDY)) from error
    except Malformed as error:
        raise CouldNotRun(Problem(f"{path}: {error}", REMEDY)) from error


def header_length(first: bytes, file_bytes: int) -> int:
    """Give the header's length in bytes from the `first` eight of the file."""
    length = int.from_bytes(first, "little")
    if len(first) < _LENGTH or length > file_bytes - _LENGTH:
        raise Malformed(f"its header of {length} bytes is longer than the file")
    if length > MAX_JSON:
        raise Malformed(f"its header has {length} bytes, at most {MAX_JSON} are read")
    return length


def parse(raw: bytes, data_bytes: int) -> Header:
    """Check the header `raw` of a file with `data_bytes` of data.

    Raises:
        Malformed: what is wrong, with the value found.
    """
    entries = load_json(raw)
    metadata = entries.pop("__metadata__", {})
    if not _is_text(metadata):
        raise Malformed("its __metadata__ is not text by name")
    tensors = [_tensor(name, entry) for name, entry in entries.items()]
    tensors.sort(key=lambda tensor: (tensor.begin, tensor.end))
    _check_cover(tensors, data_bytes)
    return Header(tuple(tensors), metadata, _LENGTH + len(raw))


def encode(tensors: Iterable[Tensor], metadata: dict[str, str]) -> bytes:
    """Give length and header of a file with `tensors`; the data starts 8-aligned."""
    entries: dict[str, object] = {"__metadata__": metadata} if metadata else {}
    for tensor in tensors:
        entries[tensor.name] = {
            "dtype": tensor.dtype,
            "shape": tensor.shape,
            "data_offsets": (tensor.begin, tensor.end),
        }
    raw = json.dumps(entries, separators=(",", ":")).encode()
    raw += b" " * (-len(raw) % 8)
    return len(raw).to_bytes(_LENGTH, "little") + raw


def split(tensor: Tensor, names: tuple[str, ...]) -> tuple[Tensor, ...]:
    """Cut a tensor along dimension 0 into equal parts, which are byte ranges of it."""
    rows = tensor.shape[0] // len(names)
    step = (tensor.end - tensor.begin) // len(names)
    shape = (rows, *tensor.shape[1:])
    begins = [tensor.begin + number * step for number in range(len(names))]
    return tuple(
        Tensor(name, tensor.dtype, shape, begin, begin + step)
        for name, begin in zip(names, begins, strict=True)
    )


def _tensor(name: str, entry: object) -> Tensor:
    if not _NAME.fullmatch(name):
        raise Malformed(f"{name[:200]!r} is no tensor name")
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise Malformed(f"{name} is not described by dtype, shape and data_offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in _BYTES:
        raise Malformed(f"{name} has the unknown dtype {str(dtype)[:50]!r}")
    if not _are_sizes(shape) or not _are_sizes(offsets) or len(offsets) != _OFFSETS:
        raise Malformed(f"{name} has a shape or offsets that are no sizes")
    tensor = Tensor(name, dtype, tuple(shape), *offsets)
    if tensor.end - tensor.begin != math.prod(shape) * _BYTES[dtype]:
        raise Malformed(f"{name}: {shape} of {dtype} do not fill the bytes {offsets}")
    return tensor


def _check_cover(tensors: list[Tensor], data_bytes: int) -> None:
    position = 0
    for tensor in tensors:
        if tensor.begin != position:
            word = (
                "overlaps the one before" if tensor.begin < position else "leaves a gap"
            )
            raise Malformed(f"{tensor.name} at byte {tensor.begin} {word}")
        position = tensor.end
    if position != data_bytes:
        raise Malformed(f"its tensors end at byte {position}, its data at {data_bytes}")


def _are_sizes(value: object) -> bool:
    if not isinstance(value, list) or len(value) > _MAX_DIMENSIONS:
        return False
    return all(type(item) is int and 0 <= item < _MAX_SIZE for item in value)


def _is_text(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    return all(isinstance(item, str) for item in value.values())
