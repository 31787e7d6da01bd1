"""The question files, and the way from a question to a score."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from bundle.api import Server
from bundle.errors import BadSettings
from bundle.model import Question, load_questions
from scripts.grade import grade
from scripts.questions import ask_all, main, summary
from tests.fixtures.known_server import Profile, serve

MODELS = Path(__file__).parents[3] / "models"
NAMES = sorted(path.parent.name for path in MODELS.glob("*/questions.yaml"))
# Models share sets, so each question is taken once.
EVERY = list(
    dict.fromkeys(one for name in NAMES for one in load_questions(MODELS, name).every)
)


@pytest.mark.parametrize("question", EVERY, ids=lambda question: question.ask)
def test_each_right_answer_is_right_and_each_rival_wrong(question: Question) -> None:
    for word in question.any_of:
        assert grade(word, question) == "right"
        for rival in question.none_of:
            assert grade(f"{word}; {rival}", question) == "wrong", rival


@pytest.mark.parametrize(
    "question",
    [one for one in EVERY if one.ask != "Which animal barks, a cat or a dog?"],
    ids=lambda question: question.ask,
)
def test_the_question_repeated_is_no_answer(question: Question) -> None:
    assert grade(question.ask, question) == "wrong"


@pytest.mark.parametrize("question", EVERY, ids=lambda question: question.ask)
def test_each_question_has_rivals_and_is_asked_once(question: Question) -> None:
    assert question.none_of
    assert [one.ask for one in EVERY].count(question.ask) == 1


def test_the_reference_runs_five_are_there_and_fifty_of_our_own_per_language() -> None:
    questions = load_questions(MODELS, "qwen-1_8b-chat")

    assert len(questions.reference) == 5
    assert Counter(question.language for question in questions.own) == {
        "zh": 50,
        "en": 50,
    }


def test_a_chosen_question_that_no_set_has_is_refused(tmp_path: Path) -> None:
    models = tmp_path / "models"
    shutil.copytree(MODELS, models)
    path = models / "smollm2-135m-instruct/questions.yaml"
    path.write_text(path.read_text() + "  - What is love?\n")

    with pytest.raises(BadSettings, match="chooses 'What is love"):
        load_questions(models, "smollm2-135m-instruct")


def test_every_answer_is_kept_and_the_right_are_counted() -> None:
    questions = [
        Question(ask=ask, any_of=("yes",), none_of=("no",), language="en")
        for ask in "abc"
    ]
    with serve(Profile(answers={"a": "Yes.", "b": "No."})) as known:
        result = ask_all(
            Server(known.url), known.profile.model, questions, lambda *_: None
        )

    assert (result.right, result.asked) == (1, 3)
    assert [one.verdict for one in result.answers] == ["right", "wrong", "wrong"]
    assert [one.text for one in result.answers] == ["Yes.", "No.", "I do not know."]
    assert [body["temperature"] for body in known.chats] == [0, 0, 0]
    assert "stop_token_ids" not in known.chats[0]


def test_a_server_that_never_stops_gets_truncated_answers() -> None:
    question = Question(ask="a", any_of=("yes",), language="en")
    with serve(Profile(answers={"a": "Yes."}, finish_reason="length")) as known:
        result = ask_all(Server(known.url), "m", [question], lambda *_: None)

    assert (result.right, result.answers[0].verdict) == (0, "truncated")
    assert "1 cut at 256 tokens: does the model stop?" in summary(result)


def test_each_language_has_its_own_score() -> None:
    questions = [
        Question(ask=f"{language}{n}", any_of=("yes",), language=language)
        for language, count in (("zh", 1), ("en", 3))
        for n in range(count)
    ]
    with serve(Profile(answers={"zh0": "Yes.", "en2": "Yes."})) as known:
        result = ask_all(Server(known.url), "m", questions, lambda *_: None)

    found = {name: (one.right, one.asked) for name, one in result.languages.items()}
    assert found == {"zh": (1, 1), "en": (1, 3)}
    assert (result.right, result.asked) == (2, 4)


def test_too_few_right_answers_are_exit_1_and_every_answer_is_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with serve(Profile()) as known:
        environ = {"BUNDLE_MODEL": known.profile.model, "BUNDLE_SERVER_URL": known.url}
        code = main(["--quick"], environ)

    assert code == 1
    assert capsys.readouterr().out.count("I do not know.") == 8
