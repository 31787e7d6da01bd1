"""The report: drawn from its JSON alone, and safe whatever a model wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bundle.errors import CouldNotRun, run_command
from bundle.model import Question, load_model
from bundle.settings import load
from scripts.questions import Answer, score
from scripts.report.__main__ import main
from scripts.report.environment import machine, model_facts, redact, settings_as_used
from scripts.report.files import read, save
from scripts.report.form import Check, Environment, NotRun, Report, ServerFacts
from scripts.report.markdown import markdown
from scripts.verdict import exit_code, overall

if TYPE_CHECKING:
    from scripts.grade import Verdict as Grade
    from scripts.report.form import Verdict

MODELS = Path(__file__).parents[4] / "models"


def _answer(text: str, verdict: Grade = "wrong") -> Answer:
    return Answer(
        question=Question(ask="Capital?", any_of=("beijing",), language="en"),
        text=text,
        finish_reason="stop",
        completion_tokens=3,
        seconds=0.1,
        verdict=verdict,
    )


def _report(*answers: Answer) -> Report:
    model = load_model(MODELS, "qwen-1_8b-chat")
    return Report(
        made_at="2026-01-01T00:00:00+00:00",
        suite="quick",
        verdict="fail",
        checks=(Check(name="questions", verdict="fail", found="0", required="1"),),
        environment=Environment(
            server=ServerFacts(url="http://x", version=None, models=("m",)),
            machine=machine(),
            model=model_facts(model),
            settings=settings_as_used(load({})),
        ),
        benchmark=None,
        questions=score(answers),
        not_run=(NotRun(part="benchmark", reason="no time"),),
    )


def test_the_parts_come_in_order_verdict_first() -> None:
    text = markdown(_report(_answer("Shanghai")))
    heads = [line for line in text.splitlines() if line.startswith("## ")]

    assert heads == ["## Verdict", "## Environment", "## Questions", "## Not run"]
    assert "commercial use not allowed" in text
    assert "no time" in text


def test_what_a_model_wrote_cannot_break_the_table() -> None:
    text = markdown(_report(_answer("a | b\n## c <script>alert(1)</script>")))
    row = next(line for line in text.splitlines() if "Capital?" in line)

    assert "<script>" not in text
    assert row.replace("\\|", "").count("|") == 5
    assert "<br>\\#\\# c" in row


def test_a_saved_report_reads_back_equal_and_draws_the_same(tmp_path: Path) -> None:
    report = _report(_answer("Shanghai"), _answer("北京", "right"))
    drawn = save(report, tmp_path)
    first = drawn.read_text(encoding="utf-8")
    drawn.unlink()

    assert run_command(lambda: main([str(tmp_path / "report.json")])) == 0
    assert report == read(tmp_path / "report.json")
    assert first == drawn.read_text(encoding="utf-8") == markdown(report)


@pytest.mark.parametrize("content", ["", "{}", '{"version": 2}', "\udcff"])
def test_what_is_no_report_is_said(content: str, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(content, encoding="utf-8", errors="surrogateescape")

    with pytest.raises(CouldNotRun, match="is no report"):
        read(path)


@pytest.mark.parametrize(
    ("verdicts", "expected", "code"),
    [
        (("pass", "pass"), "pass", 0),
        (("pass", "fail"), "fail", 1),
        (("not run", "fail"), "fail", 1),
        (("pass", "not run"), "not run", 2),
    ],
)
def test_the_verdict_of_all_checks(
    verdicts: tuple[Verdict, ...], expected: str, code: int
) -> None:
    checks = [Check(name="a", verdict=one, found="", required="") for one in verdicts]

    assert (expected, code) == (overall(checks), exit_code(checks))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("--api-key abc --seed 1", "--api-key *** --seed 1"),
        ("--api-key=abc", "--api-key=***"),
        ("--hf-token  abc", "--hf-token  ***"),
        ("http://me:word@host:1", "http://***@host:1"),
        ("--seed 1", "--seed 1"),
    ],
)
def test_secrets_are_hidden(text: str, shown: str) -> None:
    assert shown == redact(text)
