"""The grader agrees with what a person says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bundle.model import Question, load_questions
from scripts.grade import grade, normalise

FIXTURES = Path(__file__).parents[2] / "fixtures"
GRADED = yaml.safe_load((FIXTURES / "graded-answers.yaml").read_text(encoding="utf-8"))
CHATTED = yaml.safe_load((FIXTURES / "chat-answers.yaml").read_text(encoding="utf-8"))
MODELS = Path(__file__).parents[3] / "models"
ASKED = {one.ask: one for one in load_questions(MODELS, "qwen-1_8b-chat").every}
# A group's name ends with the person's verdict: "hedged right".
CHAT = [
    (ASKED[group["ask"]], answer, kind.split()[-1])
    for group in CHATTED
    for kind, answers in group.items()
    if kind != "ask"
    for answer in answers
]


@pytest.mark.parametrize("case", GRADED, ids=lambda case: case["answer"][:40])
def test_the_verdict_is_the_persons(case: dict[str, Any]) -> None:
    question = Question(
        ask="?",
        any_of=tuple(case["any_of"]),
        none_of=tuple(case.get("none_of", ())),
        language="en",
    )

    assert case["verdict"] == grade(case["answer"], question)


@pytest.mark.parametrize(("question", "answer", "verdict"), CHAT)
def test_the_verdict_on_a_chat_models_answer_is_the_persons(
    question: Question, answer: str, verdict: str
) -> None:
    assert verdict == grade(answer, question)


def test_the_graded_answers_are_at_least_two_hundred() -> None:
    assert len(CHAT) >= 200


def test_a_cut_answer_is_not_judged() -> None:
    question = Question(ask="?", any_of=("beijing",), language="en")

    assert grade("It is Beijing", question, cut=True) == "truncated"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("一百", "100"),
        ("一百零二", "102"),
        ("一百二", "120"),
        ("二百五十六", "256"),
        ("十", "10"),
        ("二十", "20"),
        ("两千零二十四", "2024"),
        ("二〇二四年", "2024年"),
        ("一亿二千万", "120000000"),
        ("三万五", "35000"),
        ("1.5亿", "150000000"),
        ("百货", "百货"),
        ("千万不要", "千万不要"),
    ],
)
def test_chinese_numerals_become_digits(text: str, plain: str) -> None:
    assert plain == normalise(text)
