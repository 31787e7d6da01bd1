"""What a start is about, and whether its settings, ports and folders are right."""

from __future__ import annotations

import shlex
import threading
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from bundle import host, toolchain
from bundle.checks.finding import Check, Finding, failure, ok
from bundle.checks.packages import packages
from bundle.checks.world import World
from bundle.settings import EXPORTER_PORT, SERVER_PORT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bundle.model import Dtype, Family, Model
    from bundle.settings import Settings

_ONE_AT_A_TIME = threading.Lock()
_PROBE_BYTES = 1 << 20  # a full disk may still take a small file


@dataclass(frozen=True, kw_only=True)
class Start(World):
    """The world, and what is to be started in it, or `is_up` already.

    `hashes` says whether to read every weight file.
    """

    settings: Settings
    model: Model
    family: Family
    hashes: bool = True
    is_up: bool = False

    @property
    def has_npu(self) -> bool:
        """Whether the engine will run on a card."""
        return self.family != "cpu"

    @property
    def several_workers(self) -> bool:
        """Whether processes of one engine talk by shared memory."""
        return self.has_npu or self.settings.tensor_parallel_size > 1

    @property
    def packages(self) -> dict[str, str] | str:
        """Versions of the engine's packages by name, or why they cannot be told."""
        with _ONE_AT_A_TIME:
            return self._packages

    @cached_property
    def _packages(self) -> dict[str, str] | str:
        return packages(self.run, self.settings.engine_python)

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


def _served_on(start: Start) -> Iterator[Finding]:
    if start.family in start.model.serving:
        yield ok(f"{start.model.name} on {start.family}")
        return
    yield failure(
        f"{start.model.name} has no serving section for {start.family}",
        f"set BUNDLE_MODEL to another model, or add it to its model.yaml; "
        f"it has {', '.join(start.model.serving)}",
    )


def _weights_format(start: Start) -> Iterator[Finding]:
    if start.settings.weights_format == "original" and start.model.conversion == "gguf":
        yield failure(
            f"BUNDLE_WEIGHTS_FORMAT=original: {start.model.name} is published as GGUF, "
            "which is not served",
            "unset BUNDLE_WEIGHTS_FORMAT",
        )


def _dtype(start: Start) -> Iterator[Finding]:
    """vllm-ascend #9294."""
    if start.family == "atlas-310p" and start.settings.dtype == "bfloat16":
        yield failure(
            "BUNDLE_DTYPE='bfloat16': the 310P computes no bfloat16",
            "set it to float16, or unset it",
        )


def _extra_args(start: Start) -> Iterator[Finding]:
    words = shlex.split(start.settings.extra_args)
    if any(word.split("=")[0] == "--api-key" for word in words):
        yield failure(
            "BUNDLE_EXTRA_ARGS has --api-key, and a command line is readable by others",
            "write the key to a file and set BUNDLE_API_KEY_FILE to its path",
        )


def _ports(start: Start) -> Iterator[Finding]:
    if start.is_up:
        yield ok(f"the server is up on port {SERVER_PORT}")
        return
    ports = [SERVER_PORT, *([EXPORTER_PORT] if start.settings.supervise_exporter else [])]
    for port in ports:
        where = f"port {port} on {start.settings.listen_address}"
        reason = host.bind_error(start.settings.listen_address, port)
        if reason == host.TAKEN:
            remedy = f"end what listens there (`ss -ltnp 'sport = :{port}'` names it)"
            yield failure(f"{where}: {reason}", remedy)
        elif reason:
            remedy = "set BUNDLE_LISTEN_ADDRESS to an address of this host, or unset it"
            yield failure(f"{where}: {reason}", remedy)
        else:
            yield ok(f"{where} is free")


def _toolchain(start: Start) -> Iterator[Finding]:
    if start.has_npu:
        return
    problems = toolchain.problems(toolchain.ENGINE)
    for problem in problems:
        yield failure(problem.what, problem.remedy)
    if not problems:
        yield ok("libnuma, C++ compiler and Python's headers")


def _folders(start: Start) -> Iterator[Finding]:
    yield from _writable("BUNDLE_RUN_DIR", start.settings.run_dir)
    if cache := start.environ.get("VLLM_CACHE_ROOT"):
        yield from _writable("VLLM_CACHE_ROOT", Path(cache))


def _writable(name: str, folder: Path) -> Iterator[Finding]:
    """Write what a full disk or a folder of others would not take."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".writable").write_bytes(bytes(_PROBE_BYTES))
        (folder / ".writable").unlink()
    except OSError as error:
        with suppress(OSError):
            (folder / ".writable").unlink(missing_ok=True)
        yield failure(
            f"{name}={str(folder)!r} cannot be written: {error.strerror}",
            "free its disk, or set it to a folder that this user can write",
        )
    else:
        yield ok(f"{name}={str(folder)!r} can be written")


CHECKS = (
    Check("served-on", _served_on),
    Check("weights-format", _weights_format),
    Check("dtype", _dtype),
    Check("extra-args", _extra_args),
    Check("ports", _ports),
    Check("toolchain", _toolchain),
    Check("folders", _folders),
)
