"""Model files: typed, checked, unknown keys refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from bundle.errors import BadSettings
from bundle.model import load_model, load_questions

MODELS = Path(__file__).parents[3] / "models"
NAMES = sorted(path.parent.name for path in MODELS.glob("*/model.yaml"))


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """Give a models folder with one model, to be spoilt."""
    text = (MODELS / "smollm2-135m-instruct/model.yaml").read_text()
    (tmp_path / "m").mkdir()
    (tmp_path / "m/model.yaml").write_text(text.replace("smollm2-135m-instruct", "m", 1))
    return tmp_path


def refused(models: Path, name: str = "m") -> list[str]:
    """Give what is wrong with the model, a sentence each."""
    with pytest.raises(BadSettings) as caught:
        load_model(models, name)
    return [problem.what for problem in caught.value.problems]


def change(models: Path, **values: object) -> None:
    """Set top-level keys of the model file."""
    path = models / "m/model.yaml"
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), **values}))


@pytest.mark.parametrize("name", NAMES)
def test_every_shipped_model_is_valid_with_its_questions(name: str) -> None:
    assert load_model(MODELS, name).name == name
    assert len(load_questions(MODELS, name).own) >= 10


@pytest.mark.parametrize("name", NAMES)
def test_every_shipped_model_runs_on_the_cpu(name: str) -> None:
    assert "cpu" in load_model(MODELS, name).serving


def test_a_missing_folder_is_named_with_the_known_ones(models: Path) -> None:
    with pytest.raises(BadSettings) as caught:
        load_model(models, "nope")

    assert "'nope'" in caught.value.problems[0].what
    assert caught.value.problems[0].remedy == "set it to one of m"


def test_unknown_keys_and_wrong_values_are_all_reported(models: Path) -> None:
    slo = {"ttft_seconds": 0, "tpot_seconds": 0.1}
    change(models, colour="blue", context="long", slo=slo)

    assert len(refused(models)) == 3


def test_an_unknown_device_family_is_refused(models: Path) -> None:
    change(models, serving={"tpu": {"dtype": "bfloat16", "max_num_seqs": 1}})

    assert "serving.tpu" in refused(models)[0]


@pytest.mark.parametrize("text", ["a: [", "- just\n- a list", "", "\x00"])
def test_a_broken_file_gives_one_sentence(models: Path, text: str) -> None:
    (models / "m/model.yaml").write_text(text)

    assert len(refused(models)) == 1


def test_a_folder_that_is_not_named_like_its_model_is_refused(models: Path) -> None:
    (models / "m").rename(models / "n")

    assert "says name: m" in refused(models, "n")[0]


def test_weights_of_qwen_lie_in_a_folder_whose_name_ends_in_chat() -> None:
    model = load_model(MODELS, "qwen-1_8b-chat")

    path = model.weights(Path("/models"), "original")

    assert path == Path("/models/qwen-1_8b-chat/original/Qwen-1_8B-Chat")
