"""Whether the weights are whole, and fit into memory with a request of full length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bundle import host, manifest, memory
from bundle.checks.finding import Check, Finding, failure, ok, unknown
from bundle.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bundle.checks.start import Start
    from bundle.npu_smi import Chip


def _weights(start: Start) -> Iterator[Finding]:
    # Hashing also reads the files into the page cache, where the engine then finds them.
    problems = manifest.check(start.weights, hashes=start.hashes)
    if not problems:
        problems = list(_strangers(start.weights))
    for problem in problems:
        yield failure(problem.what, problem.remedy)
    if not problems:
        size = memory.gib(memory.weights_bytes(start.weights))
        how = "" if start.hashes else " (by size; a start reads every byte)"
        yield ok(f"{start.weights}, {size}{how}")


def _strangers(folder: Path) -> Iterator[Problem]:
    """The engine reads every weight file that lies there."""
    found = manifest.read(folder)
    known = set() if isinstance(found, Problem) else found.files.keys()
    names = {path.name for path in folder.glob("*.safetensors")}
    if not names:
        yield Problem(f"{folder} has no *.safetensors", manifest.REMEDY)
    for name in sorted(names - known):
        yield Problem(f"{folder / name} is not in its manifest", "move that file away")


def _memory(start: Start) -> Iterator[Finding]:
    if start.is_up or not _described(start):
        return  # it has its memory, or others have said why not
    weights = memory.weights_bytes(start.weights)
    cache = _cache_bytes(start)
    free = host.memory_available(start.root)
    replicas = start.settings.data_parallel_size
    if short := memory.shortage(start.model.name, weights, cache, free, replicas):
        yield failure(short.what, short.remedy)
    else:
        yield ok(
            f"{memory.gib(free)} available; weights {memory.gib(weights)}, "
            f"KV cache {memory.gib(cache)}"
        )


def _kv_cache(start: Start) -> Iterator[Finding]:
    if not _described(start):
        return
    cache, length = _cache_bytes(start), _length(start)
    per_token = memory.kv_bytes_per_token(start.weights, start.dtype)
    longest = memory.longest_context(start.weights)
    if longest is not None and length > longest:
        what = f"BUNDLE_MAX_MODEL_LEN={length}, the model takes {longest} at most"
        yield failure(what, f"set it to {longest} or less, or unset it")
    elif cache and per_token * length > cache:
        yield failure(
            f"one request of {length} tokens needs {memory.gib(per_token * length)} of "
            f"KV cache ({per_token} bytes a token), there are {memory.gib(cache)}",
            f"set BUNDLE_MAX_MODEL_LEN to {cache // per_token} or less",
        )
    else:
        yield ok(f"a request of {length} tokens needs {memory.gib(per_token * length)}")


def _hbm(start: Start) -> Iterator[Finding]:
    """vllm-ascend #1903, #7308."""
    readings = start.npu_smi if start.has_npu else ""
    if isinstance(readings, str) or start.is_up or not _described(start):
        return
    for chip in readings.chips:
        yield from _chip_memory(start, chip)


def _chip_memory(start: Start, chip: Chip) -> Iterator[Finding]:
    total, used = chip.hbm_total_bytes, chip.hbm_used_bytes
    if start.family == "atlas-310p":  # it has no HBM, and tells its DDR
        total, used = chip.memory_total_bytes, chip.memory_used_bytes
    where, share = f"card {chip.npu} chip {chip.chip}", start.settings.memory_utilization
    if not total or used is None:
        yield unknown(f"{where} tells no memory", "look at `npu-smi info` yourself")
    elif total - used < total * share:
        yield failure(
            f"{where}: {memory.gib(total - used)} of {memory.gib(total)} are free, "
            f"BUNDLE_MEMORY_UTILIZATION={share} asks for {memory.gib(total * share)}",
            "end what holds the card, or set it lower",
        )
    else:
        yield _room(start, where, int(total * share))


def _room(start: Start, where: str, room: int) -> Finding:
    """Compare weights and one request of full length with `room` in bytes."""
    cards = start.settings.tensor_parallel_size
    weights = memory.weights_bytes(start.weights) // cards
    per_token = memory.kv_bytes_per_token(start.weights, start.dtype) // cards
    request = per_token * _length(start)
    parts = f"{where}: weights {memory.gib(weights)}, KV cache of one full request "
    parts += f"{memory.gib(request)}, room {memory.gib(room)}"
    if room < weights + request:
        return failure(parts, "set BUNDLE_MAX_MODEL_LEN lower")
    tokens = (room - weights) // per_token
    return ok(f"{parts}: about {tokens} tokens of cache at most")


def _described(start: Start) -> bool:
    config = start.weights / "config.json"
    return start.family in start.model.serving and config.is_file()


def _cache_bytes(start: Start) -> int:
    """Bytes of KV cache that are set apart; 0 on a card, where a share bounds it."""
    cache_gib = start.model.serving[start.family].kv_cache_gib
    return 0 if start.has_npu else (cache_gib or 0) * host.GIB


def _length(start: Start) -> int:
    return start.settings.max_model_len or start.model.context


CHECKS = (
    Check("weights", _weights),
    Check("memory", _memory),
    Check("kv-cache", _kv_cache),
    Check("hbm", _hbm),
)
