"""What a start is about, and whether its settings fit the model and the cards."""

from __future__ import annotations

import shlex
import threading
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from bundle.checks import place
from bundle.checks.finding import Check, Finding, failure, ok, warning
from bundle.checks.packages import packages
from bundle.checks.world import World

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bundle.model import Dtype, Family, Model
    from bundle.settings import Settings

_ONE_AT_A_TIME = threading.Lock()
# What the engine would take from the words, and the checks from the setting.
OWN_FLAGS = {
    "--dtype": "BUNDLE_DTYPE",
    "--max-model-len": "BUNDLE_MAX_MODEL_LEN",
    "--max-num-seqs": "BUNDLE_MAX_NUM_SEQS",
    "--gpu-memory-utilization": "BUNDLE_MEMORY_UTILIZATION",
    "--tensor-parallel-size": "BUNDLE_TENSOR_PARALLEL_SIZE",
    "-tp": "BUNDLE_TENSOR_PARALLEL_SIZE",
    "--data-parallel-size": "BUNDLE_DATA_PARALLEL_SIZE",
    "-dp": "BUNDLE_DATA_PARALLEL_SIZE",
    "--host": "BUNDLE_LISTEN_ADDRESS",
    "--config": "the flags themselves",
}


@dataclass(frozen=True, kw_only=True)
class Start(World):
    """The world, and what is to be started in it.

    `hashes` says whether to read every weight file.
    """

    settings: Settings
    model: Model
    family: Family
    hashes: bool = True

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
    if start.family != "atlas-310p" or start.family not in start.model.serving:
        return
    if start.dtype == "bfloat16":
        yield failure(
            f"BUNDLE_DTYPE={start.settings.dtype!r}: the 310P computes no bfloat16",
            "set it to float16",
        )


def _extra_args(start: Start) -> Iterator[Finding]:
    words = shlex.split(start.settings.extra_args)
    # vLLM reads `--api_key` too, and the beginning of a name.
    flags = {word.split("=")[0].replace("_", "-") for word in words if word[:1] == "-"}
    if any(len(flag) > len("--api-") and "--api-key".startswith(flag) for flag in flags):
        yield failure(
            "BUNDLE_EXTRA_ARGS has --api-key, and a command line is readable by others",
            "write the key to a file and set BUNDLE_API_KEY_FILE to its path",
        )
    for flag in sorted(flags & OWN_FLAGS.keys()):
        what = f"BUNDLE_EXTRA_ARGS has {flag}, which no check sees"
        yield warning(what, f"set {OWN_FLAGS[flag]} instead")


def _cards(start: Start) -> Iterator[Finding]:
    """Each rank of the engine takes a device node of its own."""
    if not start.has_npu:
        return
    settings = start.settings
    need = settings.tensor_parallel_size * settings.data_parallel_size
    visible = start.environ.get("ASCEND_RT_VISIBLE_DEVICES", "").split(",")
    here = min(len(start.cards), len(visible)) if visible != [""] else len(start.cards)
    if need > here:
        remedy = "set BUNDLE_TENSOR_PARALLEL_SIZE lower, or pass more cards"
        yield failure(f"{need} cards are asked for, {here} may be used", remedy)
    else:
        yield ok(f"{need} of {here} cards")


CHECKS = (
    Check("served-on", _served_on),
    Check("weights-format", _weights_format),
    Check("dtype", _dtype),
    Check("extra-args", _extra_args),
    Check("cards", _cards),
    *place.CHECKS,
)
