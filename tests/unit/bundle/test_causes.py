"""Causes of death, from lines that the engine really printed."""

from __future__ import annotations

import pytest

from bundle.causes import CAUSES, classify

LINES = {
    "bad-flag": "api_server.py: error: unrecognized arguments: --no-such-flag",
    "compiler-missing": "torch._inductor.exc.InvalidCxxCompiler: No working C++",
    "libnuma-missing": "ImportError: libnuma.so.1: cannot open shared object file",
    "architecture-unknown": "Model architectures ['X'] are not supported for now.",
    "kv-cache-too-small": "ValueError: To serve at least one request with the "
    "models's max seq len (8192), (1.5 GiB KV cache is needed, which is larger than "
    "the available KV cache memory (1.0 GiB)",
    "out-of-memory": "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB",
    "port-taken": "OSError: [Errno 98] Address already in use",
    "weights-broken": "SafetensorError: Error while deserializing header: incomplete",
    "disk-full": "OSError: [Errno 28] No space left on device",
}


@pytest.mark.parametrize("cause", [cause.id for cause in CAUSES])
def test_each_cause_is_told_from_its_line(cause: str) -> None:
    noisy = ["INFO 12-01 start", f"(EngineCore pid=7) ERROR {LINES[cause]}", "exit"]

    found = classify(noisy)

    assert found is not None
    assert found[0].id == cause


def test_the_first_cause_wins() -> None:
    found = classify([LINES["disk-full"], LINES["port-taken"]])

    assert found is not None
    assert found[0].id == "disk-full"


def test_a_healthy_log_has_no_cause() -> None:
    assert classify(["INFO Application startup complete.", "exited: normal"]) is None
