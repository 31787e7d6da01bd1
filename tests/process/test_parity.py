"""The engine's probabilities against the plain forward's, and every planted fault red."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bundle.model import load_model
from scripts.weights.convert import convert
from tests.fixtures.engine import ENGINE
from tests.fixtures.engine import SMALL as ENVIRON
from tests.fixtures.qwen1 import Small, make, random_weights, write_weights

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fixtures.qwen1 import Weights

ROOT = Path(__file__).parents[2]
LIMITS = load_model(ROOT / "models", "qwen-1_8b-chat").thresholds.parity["float32"]
SMALL = Small(dtype="F32")
RED = {"mean KL", "P99 KL", "perplexity", "cosine mean", "cosine min"}

pytestmark = pytest.mark.skipif(
    not ENGINE.exists(), reason=f"no engine: {ENGINE} is not there, run make process"
)


def _swap_rows(weights: Weights) -> None:
    _change("transformer.h.1.attn.c_proj.weight", weights, _swapped)


def _zero_bias(weights: Weights) -> None:
    _change("transformer.h.1.attn.c_attn.bias", weights, lambda data: bytes(len(data)))


def _overflow(weights: Weights) -> None:
    """Scale by 2**16 (the exponent lies in the two upper bytes): fine in fp32 only."""
    _change("transformer.h.0.mlp.c_proj.weight", weights, _huge)


def _change(name: str, weights: Weights, edit: Callable[[bytes], bytes]) -> None:
    dtype, shape, data = weights[name]
    weights[name] = (dtype, shape, edit(data))


def _swapped(data: bytes) -> bytes:
    row = 4 * SMALL.hidden
    return data[row : 2 * row] + data[:row] + data[2 * row :]


def _huge(data: bytes) -> bytes:
    return b"".join(
        data[n : n + 3] + bytes([data[n + 3] + 12]) for n in range(0, len(data), 4)
    )


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Compare every pair in one process of the engine's Python."""
    folder = tmp_path_factory.mktemp("parity")
    original, native = folder / "original-Chat", folder / "native-Chat"
    make(original, SMALL)
    convert(original, native, None, str(ENGINE))
    theta = make(
        folder / "theta", Small(dtype="F32", changed={"rotary_emb_base": 20_000})
    )
    swapped = _faulty(folder / "swapped", _swap_rows)
    bias = _faulty(folder / "bias", _zero_bias)
    huge = _faulty(folder / "huge", _overflow)
    jobs = {
        "same": _job(original, native),
        "engine": _job(native, native, engine=True),
        "swapped row": _job(native, swapped),
        "rope theta": _job(native, theta),
        "zeroed bias": _job(native, bias),
        "ids off by one": _job(native, native, shift=1),
        "huge in fp32": _job(huge, huge),
        "fp16 overflow": _job(huge, huge, dtype="float16"),
    }
    return dict(zip(jobs, _ask(list(jobs.values()), folder), strict=True))


def _faulty(folder: Path, spoil: Callable[[Weights], None]) -> Path:
    make(folder, SMALL)
    weights = random_weights(SMALL)
    spoil(weights)
    write_weights(folder, weights)
    return folder


def _job(reference: Path, candidate: Path, **more: object) -> dict[str, object]:
    return {
        "reference": str(reference),
        "candidate": str(candidate),
        "dtype": "float32",
        "limits": LIMITS.model_dump(),
        **more,
    }


def _ask(jobs: list[dict[str, object]], folder: Path) -> list[dict[str, Any]]:
    (folder / "jobs.json").write_text(json.dumps(jobs))
    script = ROOT / "tests/fixtures/parity_answers.py"
    done = subprocess.run(
        [ENGINE, script, folder / "jobs.json", folder / "answers.json"],
        env={**os.environ, **ENVIRON, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    found: list[dict[str, Any]] = json.loads((folder / "answers.json").read_text())
    return found


def test_original_and_native_are_equal_to_the_last_bit(
    answered: dict[str, dict[str, Any]],
) -> None:
    assert answered["same"]["equal"]
    assert answered["same"]["failed"] == []


def test_the_fp32_engine_is_the_plain_forward(
    answered: dict[str, dict[str, Any]],
) -> None:
    found = answered["engine"]["figures"]

    assert answered["engine"]["failed"] == []
    assert found["positions"] == 297
    assert 0 < found["kl"]["mean"] < found["kl"]["max"] < 1e-8
    assert found["states"]["cosine_min"] > 1 - 1e-6


@pytest.mark.parametrize(
    "fault", ["swapped row", "rope theta", "zeroed bias", "ids off by one"]
)
def test_a_planted_fault_is_red_by_name(
    answered: dict[str, dict[str, Any]], fault: str
) -> None:
    print(fault, answered[fault]["failed"], answered[fault]["figures"]["kl"]["mean"])

    assert set(answered[fault]["failed"]) >= RED


def test_an_overflow_in_fp16_is_named_and_is_none_in_fp32(
    answered: dict[str, dict[str, Any]],
) -> None:
    assert answered["huge in fp32"]["failed"] == []
    assert answered["fp16 overflow"]["failed"] == ["NotFinite"]
    assert "not finite numbers" in answered["fp16 overflow"]["why"]
