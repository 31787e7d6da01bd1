"""The two files for vllm-ascend: in its layout, and saying what this bundle says.

The layout is that of its tests/e2e/models/test_lm_eval_correctness.py and of
docs/source/_templates/Model-Deployment-Tutorial-Template.md.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jinja2
import pytest
import yaml

from bundle.model import load_model
from bundle.settings import load
from entrypoint.command import vllm_argv

ROOT = Path(__file__).parents[2]
NAME = "qwen-1_8b-chat"
MODEL = load_model(ROOT / "models", NAME)
TUTORIAL = (ROOT / "docs/source/tutorials/models/Qwen-1_8B-Chat.md").read_text("utf-8")
CONFIG: dict[str, Any] = yaml.safe_load(
    (ROOT / "tests/e2e/models/configs/Qwen-1_8B-Chat.yaml").read_text("utf-8")
)

# Key and type of each field that vllm-ascend's test reads.
FIELDS: dict[str, type | tuple[type, ...]] = {
    "model_name": str,
    "model_type": str,
    "hardware": str,
    "serve": dict,
    "tasks": list,
    "num_fewshot": int,
    "apply_chat_template": bool,
    "fewshot_as_multiturn": bool,
    "limit": int,
    "batch_size": (int, str),
}
SERVE: dict[str, type | tuple[type, ...]] = {
    "tensor_parallel_size": int,
    "dtype": str,
    "max_model_len": int,
    "gpu_memory_utilization": float,
    "trust_remote_code": bool,
    "enforce_eager": bool,
    "quantization": str,
    "enable_thinking": bool,
}


def test_the_configuration_has_the_fields_of_that_layout_and_no_other() -> None:
    for fields, found in ((FIELDS, CONFIG), (SERVE, CONFIG["serve"])):
        assert found.keys() <= fields.keys()
        assert all(isinstance(value, fields[key]) for key, value in found.items())
    assert {"model_name", "hardware", "serve", "tasks"} <= CONFIG.keys()
    for task in CONFIG["tasks"]:
        assert task.keys() == {"name", "metrics"}
        assert all(one.keys() == {"name", "value"} for one in task["metrics"])


def test_the_configuration_says_what_the_model_folder_says() -> None:
    (reference,) = (one for one in MODEL.references if one.metric == "gsm8k")

    assert MODEL.source.hub == "modelscope"
    assert CONFIG["model_name"] == MODEL.source.id
    assert CONFIG["serve"]["max_model_len"] == MODEL.context
    assert CONFIG["serve"]["dtype"] == MODEL.serving["atlas-a2"].dtype
    assert CONFIG["tasks"][0]["metrics"][0]["value"] == reference.value / 100


def test_the_tutorial_has_the_chapters_of_the_template() -> None:
    chapters = re.findall(r"^## (\d+) ", TUTORIAL, re.MULTILINE)

    assert chapters == [str(number) for number in range(1, 11)]


def test_the_tutorial_serves_with_the_flags_of_the_entrypoint() -> None:
    block = TUTORIAL.split("### 5.1")[1].split("```")[1].replace("\\\n", " ")
    settings = load({"BUNDLE_WEIGHTS_FORMAT": "original"})
    argv = vllm_argv(settings, MODEL, "atlas-a2")

    for flag in ("--dtype", "--max-model-len", "--max-num-seqs", "--compilation-config"):
        assert f"{flag} " in block
        assert argv[argv.index(flag) + 1] in block, flag


@pytest.mark.parametrize("roles", ["user", "system user", "user assistant user"])
def test_the_tutorials_template_makes_the_prompts_of_ours(roles: str) -> None:
    told = re.search(r"chat_template.jinja <<'EOF'\n(.*?)EOF", TUTORIAL, re.DOTALL)
    ours = (ROOT / "models" / NAME / "chat_template.jinja").read_text("utf-8")
    messages = [{"role": role, "content": f"{role} 你好"} for role in roles.split()]
    # transformers compiles templates so.
    jinja = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)  # noqa: S701 - no HTML

    assert told
    drawn = [
        jinja.from_string(one).render(messages=messages, add_generation_prompt=True)
        for one in (told[1], ours)
    ]
    assert drawn[0] == drawn[1]


def test_the_tutorials_stop_tokens_are_those_of_the_model() -> None:
    told = re.search(r"generation_config.json <<'EOF'\n(.*?)EOF", TUTORIAL, re.DOTALL)

    assert told
    assert json.loads(told[1])["eos_token_id"] == list(MODEL.chat.stop_token_ids)
