"""Sense is told from nonsense."""

from __future__ import annotations

from pathlib import Path

import pytest

from bundle.model import Question, load_questions
from monitoring.canary import correct, garbled

MODELS = Path(__file__).parents[3] / "models"
ZH = Question(ask="中国的首都是哪里", any_of=("北京",), language="zh")
EN = Question(ask="What is the capital of China?", any_of=("Beijing",), language="en")
TWELVE = Question(ask="一年有几个月", any_of=("12",), language="zh")


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("中国的首都是北京。", ZH),
        ("The capital of China is BEIJING, which", EN),
        ("一年有12个月", TWELVE),
        ("北京\n\n北京是", ZH),
        ("北京是\N{REPLACEMENT CHARACTER}", ZH),
        ("Beijing......................", EN),
        ("Beijing\n==========\n----------", EN),
    ],
)
def test_sense(text: str, question: Question) -> None:
    assert correct(text, question)
    assert not garbled(text, question)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("!!!!!!!!!!!!!!!!", EN),
        ("Beijing!!!!!!!!!!!!", EN),
        ("", EN),
        ("\n\n\n\n", EN),
        ("。。。。。。。。。。", ZH),
        ("aaaaaaaaaaaaaaaa", EN),
        ("的的的的的的的的的的", ZH),
        ("Be\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}jing", EN),
        ("the the of and Beijing to", ZH),
    ],
)
def test_nonsense(text: str, question: Question) -> None:
    assert garbled(text, question)


def test_a_wrong_answer_in_good_language_is_wrong_and_not_garbled() -> None:
    assert not correct("中国的首都是上海。", ZH)
    assert not garbled("中国的首都是上海。", ZH)


@pytest.mark.parametrize("name", sorted(p.name for p in MODELS.iterdir() if p.is_dir()))
def test_no_canary_question_holds_its_own_answer(name: str) -> None:
    for question in load_questions(MODELS, name).canary:
        assert not correct(question.ask, question)
