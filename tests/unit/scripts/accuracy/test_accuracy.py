"""The way from problems to a score, against a server whose answers are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bundle.errors import run_command
from bundle.model import Reference, WordProblems, load_model
from scripts.accuracy.__main__ import main
from scripts.accuracy.answers import Answer, Request, Settings
from scripts.accuracy.problems import own
from scripts.accuracy.result import accuracy
from tests.fixtures.known_server import Profile, serve

if TYPE_CHECKING:
    from bundle.model import Model
    from scripts.accuracy.result import Accuracy

ROOT = Path(__file__).parents[4]
MODEL = load_model(ROOT / "models", "smollm2-135m-instruct")
RIGHT = {one.question: f"The answer is {one.answer}." for one in own().problems}


def run(url: str, out: Path, *words: str) -> int:
    """Run the command on our own problems."""
    environ = {"BUNDLE_MODEL": MODEL.name, "BUNDLE_SERVER_URL": url}
    return run_command(lambda: main(["own", "--out", str(out), *words], environ))


def result(out: Path) -> dict[str, Any]:
    """Give the JSON result."""
    found: dict[str, Any] = json.loads((out / "own-problems.json").read_text())
    return found


def test_right_answers_are_counted_and_each_is_kept(tmp_path: Path) -> None:
    with serve(Profile(answers=RIGHT)) as known:
        code = run(known.url, tmp_path)

    assert (code, result(tmp_path)["flexible"]["count"]) == (0, 50)
    assert result(tmp_path)["strict"]["count"] == 50
    assert len((tmp_path / "own-problems.jsonl").read_text().splitlines()) == 1 + 50
    assert not (tmp_path / "own-problems.partial.jsonl").exists()


def test_the_request_leaves_nothing_to_the_servers_folder(tmp_path: Path) -> None:
    with serve(Profile(answers=RIGHT)) as known:
        run(known.url, tmp_path, "--limit", "1", "--fewshot")
    (asked,) = known.chats

    assert asked["messages"][0] == {
        "role": "system",
        "content": MODEL.chat.system_prompt,
    }
    assert [one["role"] for one in asked["messages"][1:]] == ["user", "assistant"] * 4 + [
        "user"
    ]
    assert asked["messages"][-1]["content"] == own().problems[0].question
    del asked["messages"]
    assert asked == {
        "model": MODEL.name,
        "stop_token_ids": [2],
        "max_tokens": 512,
        "temperature": 0,
        "top_p": 1,
        "top_k": -1,
        "repetition_penalty": 1,
    }


def test_a_server_that_never_stops_fails_the_gate_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(Profile(answers=RIGHT, finish_reason="length")) as known:
        code = run(known.url, tmp_path)

    assert code == 1
    assert "FAIL  truncated answers: 50 of 50" in capsys.readouterr().out
    assert result(tmp_path)["unparseable"] == 0


def test_answers_without_a_number_fail_the_gate_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(Profile()) as known:
        code = run(known.url, tmp_path)

    assert code == 1
    assert "FAIL  unparseable answers: 50 of 50" in capsys.readouterr().out


def test_a_run_that_broke_off_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(Profile(answers=RIGHT)) as known:
        run(known.url, tmp_path, "--limit", "5")
        lines = (tmp_path / "own-problems.jsonl").read_text().splitlines()
        partial = tmp_path / "own-problems.partial.jsonl"
        partial.write_text("\n".join([*lines[:4], '{"index": 4, "te']))  # killed here
        capsys.readouterr()
        code = run(known.url, tmp_path, "--limit", "5")

    assert (code, len(known.chats)) == (0, 5 + 2)
    assert "going on from 3 answers" in capsys.readouterr().out
    assert result(tmp_path)["flexible"]["count"] == 5


def test_a_run_goes_on_after_any_character(tmp_path: Path) -> None:
    """U+2028 ends a line for Python's splitlines; a kill may halve a character."""
    with serve(Profile(answers=RIGHT)) as known:
        run(known.url, tmp_path, "--limit", "5")
        done = (tmp_path / "own-problems.jsonl").read_text().splitlines()
        answer = {**json.loads(done[1]), "text": "so\u2028it is"}
        kept = "\n".join([done[0], json.dumps(answer, ensure_ascii=False), ""])
        partial = tmp_path / "own-problems.partial.jsonl"
        partial.write_bytes(kept.encode() + '{"index": 4, "text": "十'.encode()[:-1])
        run(known.url, tmp_path, "--limit", "5")

    assert len(known.chats) == 5 + 4


def test_a_folder_in_the_place_of_the_answers_is_exit_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own-problems.partial.jsonl").mkdir()
    with serve(Profile(answers=RIGHT)) as known:
        assert run(known.url, tmp_path, "--limit", "5") == 2

    assert "partial.jsonl cannot be read: " in capsys.readouterr().err


def test_answers_of_other_settings_are_not_mixed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(Profile(answers=RIGHT)) as known:
        run(known.url, tmp_path, "--limit", "5")
        done = tmp_path / "own-problems.jsonl"
        done.rename(tmp_path / "own-problems.partial.jsonl")
        code = run(known.url, tmp_path, "--limit", "5", "--max-tokens", "1024")

    assert code == 2
    assert "other settings: max_tokens 512, now 1024" in capsys.readouterr().err


def test_an_engine_that_dies_ends_with_2_and_says_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(Profile(chat_status=500)) as known:
        code = run(known.url, tmp_path)

    assert code == 2
    assert "the engine is dead" in (told := capsys.readouterr().err)
    assert "it goes on from here" in told


def scored(right: int, asked: int, model: Model) -> Accuracy:
    """Score `right` right answers of `asked`, the others wrong."""
    data = own()
    texts = [
        f"#### {data.problems[n].answer + (0 if n < right else 1)}" for n in range(asked)
    ]
    answers = [
        Answer(index=n, text=text, finish_reason="stop", completion_tokens=3)
        for n, text in enumerate(texts)
    ]
    request = Request(
        model=model.name, system_prompt="", stop_token_ids=(2,), fewshot=0, max_tokens=512
    )
    settings = Settings(
        data=data.name,
        data_sha256=data.sha256,
        asked=asked,
        server="",
        engine=None,
        request=request,
    )
    return accuracy(data, answers, settings, model)


@pytest.mark.parametrize(("right", "verdict"), [(0, "fail"), (5, "fail"), (12, "pass")])
def test_the_interval_must_reach_the_published_score_less_the_margin(
    right: int, verdict: str
) -> None:
    """Published 33.7, margin 2: of 50, 5 right reach 21.4%, 12 right reach 37.4%."""
    limits = WordProblems(margin_points=2, truncated_share=0.1, unparseable_share=0.1)
    model = MODEL.model_copy(
        update={
            "references": (Reference(metric="gsm8k", value=33.7, source="made up"),),
            "thresholds": MODEL.thresholds.model_copy(update={"word_problems": limits}),
        }
    )
    gate = scored(right, 50, model).gates[0]

    assert (gate.name, gate.passed) == ("right answers", verdict == "pass")


def test_few_problems_are_called_a_liveness_check() -> None:
    assert "liveness check" in scored(3, 20, MODEL).label
    assert scored(3, 50, MODEL).label == "all 50"
