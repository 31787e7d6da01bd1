"""What can be said before anything large is downloaded."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from bundle import host, memory, toolchain
from bundle.errors import BadSettings, HostNotReady, Problem, raise_all

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bundle.model import Model
    from bundle.settings import Settings

_GGUF_GROWTH = 3  # the demo: 98 MB of 4-bit numbers become 270 MB of bfloat16


def check_host(settings: Settings, model: Model, *, running: bool) -> None:
    """Check, and as root install, what is needed; raises with every problem."""
    if "cpu" not in model.serving:
        raise BadSettings(
            Problem(
                f"{model.name} is not described for the CPU", "set another BUNDLE_MODEL"
            )
        )
    problems = toolchain.provide(toolchain.ENGINE)
    if not running:  # what runs already has its memory
        problems += [*_memory(settings, model), *_disk(settings, model)]
    raise_all(HostNotReady, problems)


def _memory(settings: Settings, model: Model) -> Iterator[Problem]:
    cache = (model.serving["cpu"].kv_cache_gib or 0) * host.GIB
    free = host.memory_available()
    weights, replicas = _served_bytes(model), settings.data_parallel_size
    if short := memory.shortage(model.name, weights, cache, free, replicas):
        yield short


def _disk(settings: Settings, model: Model) -> Iterator[Problem]:
    need = model.source.size_bytes + _served_bytes(model)
    free = shutil.disk_usage(_existing(settings.weights_dir)).free
    if free < need:
        yield Problem(
            f"{memory.gib(free)} are free on the disk of {settings.weights_dir}; the "
            f"weights need {memory.gib(need)}, as fetched and as served",
            "free some disk, or set BUNDLE_WEIGHTS_DIR to a larger one",
        )


def _served_bytes(model: Model) -> int:
    growth = _GGUF_GROWTH if model.conversion == "gguf" else 1
    return model.source.size_bytes * growth


def _existing(folder: Path) -> Path:
    return next(path for path in (folder, *folder.parents) if path.exists())
