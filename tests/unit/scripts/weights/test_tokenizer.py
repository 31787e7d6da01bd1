"""The vocabulary is checked; the template and the stops are the model's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jinja2
import pytest

from bundle.model import load_model
from scripts.weights.convert import chat_template
from scripts.weights.tokenizer import SPECIAL, count_ranks, settings
from tests.fixtures.qwen1 import REAL_RANKS, tiktoken_file, vocabulary

MODELS = Path(__file__).parents[4] / "models"
QWEN = load_model(MODELS, "qwen-1_8b-chat")
BYTES = [bytes([byte]) for byte in range(256)]


def render(template: str, messages: list[dict[str, Any]]) -> str:
    """Render as transformers and vLLM do."""
    environment = jinja2.Environment(  # noqa: S701 - a prompt, not a page
        trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(template).render(
        messages=messages, add_generation_prompt=True
    )


def test_the_made_vocabulary_is_a_vocabulary() -> None:
    assert count_ranks(tiktoken_file(vocabulary(1000))) == 1000


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "no token for the byte 0x00"),
        (tiktoken_file(BYTES[:-1]), "no token for the byte 0xff"),
        (tiktoken_file([*BYTES, b"ab", b"ab"]), "same token twice"),
        (tiktoken_file(BYTES) + b"YWI= 300\n", "line 257 has rank 300, not 256"),
        (tiktoken_file(BYTES) + b"YWI=\n", "line 257 is no token and rank"),
        (tiktoken_file(BYTES) + b"YW*= 256\n", "line 257 is no token and rank"),
        (tiktoken_file(BYTES) + b"YWI= x\n", "line 257 is no token and rank"),
        (b"version https://git-lfs.github.com/spec/v1\n", "line 1 is no token"),
    ],
)
def test_a_vocabulary_that_is_not_sound_is_refused(raw: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        count_ranks(raw)


def test_special_tokens_follow_the_vocabulary() -> None:
    assert len(SPECIAL) == 208
    assert SPECIAL[:3] == ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
    assert QWEN.chat.stop_token_ids == (REAL_RANKS, REAL_RANKS + 2, REAL_RANKS + 1)


def test_a_turn_ends_the_reply_even_without_generation_config() -> None:
    assert settings(8192)["eos_token"] == "<|im_end|>"
    assert settings(8192)["model_max_length"] == 8192


def test_a_chat_is_chatml_with_the_models_system_prompt() -> None:
    template = (MODELS / QWEN.name / "chat_template.jinja").read_text()
    asked = {"role": "user", "content": "你好"}

    assert render(template, [asked]) == (
        f"<|im_start|>system\n{QWEN.chat.system_prompt}<|im_end|>\n"
        "<|im_start|>user\n你好<|im_end|>\n<|im_start|>assistant\n"
    )


def test_the_callers_system_prompt_stands_alone() -> None:
    template = (MODELS / QWEN.name / "chat_template.jinja").read_text()
    turns: list[dict[str, Any]] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": None},
        {"role": "user", "content": "b"},
    ]

    assert render(template, turns) == (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\na<|im_end|>\n"
        "<|im_start|>assistant\n<|im_end|>\n<|im_start|>user\nb<|im_end|>\n"
        "<|im_start|>assistant\n"
    )


def test_native_and_original_are_served_with_one_template() -> None:
    served = (MODELS / QWEN.name / "chat_template.jinja").read_text()

    assert chat_template(QWEN, MODELS) == served
    assert chat_template(None, MODELS) == served


def test_a_model_without_a_template_gets_the_default_one_with_its_own_prompt() -> None:
    prompt = "You're \\ 'quoted'."
    chat = QWEN.chat.model_copy(update={"system_prompt": prompt})
    model = QWEN.model_copy(update={"name": "qwen-72b-chat", "chat": chat})

    shown = render(chat_template(model, MODELS), [{"role": "user", "content": "a"}])

    assert shown.startswith(f"<|im_start|>system\n{prompt}<|im_end|>\n")


def test_the_original_is_served_with_the_models_sampling_and_stops() -> None:
    served = json.loads((MODELS / QWEN.name / "generation_config.json").read_text())

    assert served["eos_token_id"] == list(QWEN.chat.stop_token_ids)
    assert served["top_p"] == QWEN.sampling.top_p
    assert served["repetition_penalty"] == QWEN.sampling.repetition_penalty
    assert "max_new_tokens" not in served
