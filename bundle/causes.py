"""Why an engine died, read from its log: one table, for the start and the doctor."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Cause:
    """A known way to die: what its log line looks like, and the one remedy."""

    id: str
    pattern: str
    what: str
    remedy: str


CAUSES = (
    Cause(
        "bad-flag",
        r"unrecognized arguments: .+|error: argument .+",
        "the engine does not know a flag, or its value",
        "correct BUNDLE_EXTRA_ARGS",
    ),
    Cause(
        "compiler-missing",
        r"InvalidCxxCompiler|No working C\+\+ compiler",
        "there is no working C++ compiler",
        "install g++ and Python's headers",
    ),
    Cause(
        "libnuma-missing",
        r"libnuma\.so\.1: cannot open shared object file",
        "the engine's extension does not load without libnuma",
        "install libnuma1 (Debian, Ubuntu) or numactl-libs",
    ),
    Cause(
        "architecture-unknown",
        r"Model architectures? \S+ (?:was|are|is) .*not supported.*",
        "this engine release does not know the model's architecture",
        "serve the native format: unset BUNDLE_WEIGHTS_FORMAT",
    ),
    Cause(
        "kv-cache-too-small",
        r".*KV cache is needed, which is larger than the available KV cache.*",
        "one request of full length does not fit into the KV cache",
        "set BUNDLE_MAX_MODEL_LEN lower",
    ),
    Cause(
        "out-of-memory",
        r"(?:NPU )?out of memory|MemoryError|Cannot allocate memory|SIGKILL",
        "memory ran out",
        "end other programs, or take a smaller model or batch",
    ),
    Cause(
        "port-taken",
        r"(?i)address already in use",
        "another process listens on the server's port",
        "end that process (`ss -ltnp` names it)",
    ),
    Cause(
        "weights-broken",
        r"SafetensorError.*|Error while deserializing header.*",
        "a weights file is broken",
        "run `make weights`, which fetches it again",
    ),
    Cause(
        "disk-full",
        r"No space left on device",
        "a disk is full",
        "free some disk",
    ),
)


def classify(lines: Iterable[str]) -> tuple[Cause, str] | None:
    """Give the first known cause in `lines`, with the line that shows it."""
    for line in lines:
        for cause in CAUSES:
            if re.search(cause.pattern, line):
                return cause, line.strip()
    return None
