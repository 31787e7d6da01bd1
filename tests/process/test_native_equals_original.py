"""The native form against the original on the real engine: equal, not close."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from scripts.weights.convert import convert
from tests.fixtures.engine import ENGINE, ask
from tests.fixtures.qwen1 import REAL_RANKS, Small, make

ROOT = Path(__file__).parents[2]
MODEL = ROOT / "models/qwen-1_8b-chat"
TURN_END = 151645
# bf16 is what is published; the others, and several shards, take part with it.
KINDS = {
    "bf16": Small(),
    "fp16-in-2": Small(dtype="F16", shards=2),
    "fp32-in-3": Small(dtype="F32", shards=3),
}
PROMPTS = [
    "你好，请用中文介绍一下北京的历史。",  # noqa: RUF001 - Chinese has this comma
    "The capital of France is Paris, and it's known for",
    "def f(x):\n    return [x ** 2 for x in range(10)]  # squares\n",
    "<|im_start|>user\nhi <|extra_3|><|im_end|>\n<|im_start|>assistant\n",
    "长文本 long text 👩\u200d👩\u200d👧 e\u0301 \r\n\t" * 150,
]

pytestmark = pytest.mark.skipif(
    not ENGINE.exists(), reason=f"no engine: {ENGINE} is not there, run make process"
)


def both(folder: Path, small: Small) -> tuple[Path, Path]:
    """Make a checkpoint and its native form; vLLM reads the -Chat at the end."""
    original, native = folder / "original-Chat", folder / "native-Chat"
    make(original, small)
    convert(original, native, None, str(ENGINE))
    return original, native


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Ask every folder everything, in one run of the engine."""
    jobs: dict[str, dict[str, Any]] = {}
    for name, small in KINDS.items():
        original, native = both(tmp_path_factory.mktemp(name), small)
        remote = {"trust_remote_code": True}
        jobs[f"{name} original"] = _job(original, options=remote, prompts=PROMPTS)
        jobs[f"{name} native"] = _job(native, prompts=PROMPTS)
    original, native = both(tmp_path_factory.mktemp("chat"), Small(ranks=REAL_RANKS))
    our_way = {"trust_remote_code": True, "generation_config": str(MODEL)}
    template = (MODEL / "chat_template.jinja").read_text()
    jobs["plain"] = _job(original, options={"trust_remote_code": True}, forced=TURN_END)
    jobs["ours"] = _job(
        original, options=our_way, forced=TURN_END, chat_template=template
    )
    jobs["native"] = _job(native, forced=TURN_END)
    answers = ask(ENGINE, list(jobs.values()), tmp_path_factory.mktemp("jobs"))
    return dict(zip(jobs, answers, strict=True))


def _job(folder: Path, **more: object) -> dict[str, object]:
    return {"folder": str(folder), **more}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", range(len(PROMPTS)))
def test_tokens_logprobs_and_text_are_equal_to_the_last_bit(
    answered: dict[str, dict[str, Any]], kind: str, number: int
) -> None:
    original = answered[f"{kind} original"]["greedy"][number]
    native = answered[f"{kind} native"]["greedy"][number]

    assert len(original["tokens"]) == 32
    assert len(original["prompt_logprobs"]) == len(original["prompt_tokens"]) > 5
    assert native == original


def test_the_weights_differ_enough_for_equality_to_mean_something(
    answered: dict[str, dict[str, Any]],
) -> None:
    replies = [tuple(reply["tokens"]) for reply in answered["bf16 native"]["greedy"]]

    assert len(set(replies)) == len(PROMPTS)
    assert answered["bf16 native"]["greedy"] != answered["fp32-in-3 native"]["greedy"]


def test_the_plain_original_does_not_stop_at_the_end_of_a_turn(
    answered: dict[str, dict[str, Any]],
) -> None:
    assert answered["plain"]["forced"]["tokens"] == [TURN_END] * 8
    assert answered["plain"]["forced"]["finish_reason"] == "length"


@pytest.mark.parametrize("served", ["native", "ours"])
def test_the_native_form_and_the_original_served_our_way_stop(
    answered: dict[str, dict[str, Any]], served: str
) -> None:
    assert answered[served]["forced"]["tokens"] == [TURN_END]
    assert answered[served]["forced"]["finish_reason"] == "stop"


def test_a_chat_becomes_the_same_tokens_in_both_forms(
    answered: dict[str, dict[str, Any]],
) -> None:
    tokens = answered["native"]["forced"]["prompt_tokens"]

    assert tokens == answered["ours"]["forced"]["prompt_tokens"]
    assert tokens.count(TURN_END) == 2  # of the system prompt and of the user's turn


def test_the_engine_finds_nothing_to_warn_of_in_the_native_folder(tmp_path: Path) -> None:
    _, native = both(tmp_path, Small())
    read = (
        "import sys, transformers as t; t.AutoTokenizer.from_pretrained(sys.argv[1]);"
        "t.AutoConfig.from_pretrained(sys.argv[1]);"
        "t.GenerationConfig.from_pretrained(sys.argv[1])"
    )

    done = subprocess.run(
        [ENGINE, "-c", read, native], capture_output=True, text=True, check=True
    )

    assert done.stderr == ""
    assert json.loads((native / "config.json").read_text())["model_type"] == "qwen2"
