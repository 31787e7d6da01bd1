"""Write the native shards of a checkpoint; shards keep their names and boundaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bundle.errors import CouldNotRun, Problem
from scripts.weights.copying import Digests, Part, copy
from scripts.weights.qwen1 import is_kept, moved_together, native_tensors
from scripts.weights.safetensors import encode

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from scripts.weights.safetensors import Header, Tensor


def shard_parts(header: Header) -> tuple[Part, ...]:
    """Say which bytes of a shard's data go to the native form."""
    return tuple(Part(t.begin, t.end, is_kept(t.name)) for t in header.tensors)


def native_shard(header: Header) -> tuple[Tensor, ...]:
    """Give the tensors of the native shard that `header`'s becomes."""
    return moved_together(native_tensors(header.tensors))


def write_shard(source: Path, target: Path, header: Header) -> Digests:
    """Write the native form of the shard `source` to the file `target`.

    Raises:
        CouldNotRun: the source changed meanwhile; OSError: of reading or writing.
    """
    new = encode(native_shard(header), header.metadata or {"format": "pt"})
    parts = shard_parts(header)
    try:
        return copy(source, header.data_start, target, new, parts)
    except EOFError:
        what = f"{source} became shorter while it was read"
        raise CouldNotRun(Problem(what, "fetch it again")) from None


def native_index(shards: Mapping[str, Header]) -> dict[str, Any]:
    """Say in which shard each tensor of the native form lies."""
    tensors = {name: native_shard(header) for name, header in shards.items()}
    size = sum(t.end - t.begin for shard in tensors.values() for t in shard)
    places = {t.name: name for name, shard in tensors.items() for t in shard}
    return {
        "metadata": {"total_size": size},
        "weight_map": dict(sorted(places.items())),
    }
