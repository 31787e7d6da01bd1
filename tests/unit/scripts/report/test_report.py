"""The report: drawn from its JSON alone, and safe whatever a model wrote."""

from __future__ import annotations

import json
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bundle import served_by
from bundle.api import Server
from bundle.errors import CouldNotRun, run_command
from bundle.model import Question, load_model
from bundle.served_by import ServedBy
from bundle.settings import load
from scripts.questions import Answer, score
from scripts.report.__main__ import main
from scripts.report.content import document
from scripts.report.document import Table
from scripts.report.environment import (
    environment,
    machine,
    model_facts,
    redact,
    settings_as_used,
)
from scripts.report.files import read, save
from scripts.report.form import (
    Check,
    Environment,
    NotRun,
    NpuFacts,
    Report,
    ServerFacts,
)
from scripts.report.html import html
from scripts.report.markdown import markdown
from scripts.verdict import exit_code, overall

if TYPE_CHECKING:
    from scripts.grade import Verdict as Grade
    from scripts.report.form import Verdict
    from scripts.report.words import Language

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


def _drawn(report: Report) -> str:
    return markdown(document(report))


def _on_a_card(*answers: Answer) -> Report:
    report = _report(*answers)
    served = ServedBy(
        family="atlas-a2",
        packages={"vllm-ascend": "0.23.0", "torch-npu": "2.10.0"},
        cann="9.1.0",
        manifest_sha256="ab" * 32,
        command="python -m vllm --model x",
    )
    npu = NpuFacts(driver="25.5.1", cards=("0.0 910B3",))
    where = {"served_by": served, "npu": npu}
    environment = report.environment.model_copy(update=where)
    return report.model_copy(update={"environment": environment})


def test_the_parts_come_in_order_verdict_first() -> None:
    text = _drawn(_report(_answer("Shanghai")))
    heads = [line for line in text.splitlines() if line.startswith("## ")]

    assert heads == ["## Verdict", "## Environment", "## Questions", "## Not run"]
    assert "commercial use not allowed" in text
    assert "no time" in text


def test_what_a_model_wrote_cannot_break_the_table() -> None:
    text = _drawn(_report(_answer("a | b\n## c <script>alert(1)</script>")))
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
    assert first == drawn.read_text(encoding="utf-8") == _drawn(report)


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


class _Page(HTMLParser):
    """Every tag that is opened, and that what is opened is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [f"{tag} {k}" for k, _ in attrs if k in {"src", "href", "onload"}]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_loads_nothing() -> None:
    page = _Page()
    page.feed(html(document(_on_a_card(_answer("<script>alert(1)</script> & <b>")))))

    assert page.open == []
    assert page.loads == []
    assert "script" not in page.tags
    assert page.tags.count("h2") == 4


@pytest.mark.parametrize("language", ["en", "zh"])
def test_page_and_markdown_say_the_same(language: Language) -> None:
    drawn = document(_on_a_card(_answer("Shanghai"), _answer("北京", "right")), language)
    page, text = html(drawn), markdown(drawn)

    for section in drawn.sections:
        assert f"<h2>{section.title}</h2>" in page
        assert f"## {section.title}\n" in text
        for table in (one for one in section.blocks if isinstance(one, Table)):
            for cell in (cell for row in table.rows for cell in row):
                assert escape(cell) in page


def test_a_chinese_report_has_no_english_head() -> None:
    drawn = document(_on_a_card(_answer("Shanghai")), "zh")
    heads = [section.title for section in drawn.sections]
    heads += [
        head
        for section in drawn.sections
        for one in section.blocks
        if isinstance(one, Table)
        for head in one.heads
    ]

    assert [head for head in heads if head.isascii()] == []
    assert "未通过" in drawn.title


def test_a_run_on_a_card_tells_what_served_and_has_the_name_of_its_report(
    tmp_path: Path,
) -> None:
    drawn = save(_on_a_card(_answer("Shanghai")), tmp_path)
    name = "Qwen-1_8B-Chat-vLLM-Ascend-Evaluation-Report.md"
    text = (tmp_path / name).read_text(encoding="utf-8")

    assert text == drawn.read_text(encoding="utf-8")
    for fact in ("atlas-a2", "vllm-ascend 0.23.0", "9.1.0", "25.5.1", "0.0 910B3"):
        assert fact in text


def test_what_the_server_noted_is_read_and_a_broken_note_is_no_reason_to_fail(
    tmp_path: Path,
) -> None:
    settings = load({"BUNDLE_RUN_DIR": str(tmp_path)})
    model = load_model(MODELS, "qwen-1_8b-chat")
    nobody = Server("http://127.0.0.1:9")
    (tmp_path / "readings").mkdir()
    served = ServedBy(
        family="cpu",
        packages={},
        cann=None,
        manifest_sha256=None,
        command="vllm --hf-token abc",
    )
    path = tmp_path / served_by.FILE
    path.write_text(served.model_dump_json(), encoding="utf-8")
    found = environment(nobody, settings, model, [])
    path.write_text("{", encoding="utf-8")

    assert found.served_by == served.model_copy(update={"command": "vllm --hf-token ***"})
    assert found.npu is None
    assert environment(nobody, settings, model, []).served_by is None


def test_the_statement_names_the_image_and_holds_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = _report(_answer("Shanghai"))
    save(report, tmp_path)
    path, digest = str(tmp_path / "report.json"), "0f" * 32

    code = run_command(lambda: main([path, "--attest", f"host:5000/x@sha256:{digest}"]))
    told = json.loads(capsys.readouterr().out)

    assert code == 0
    assert told["subject"] == [{"name": "host:5000/x", "digest": {"sha256": digest}}]
    assert Report.model_validate(told["predicate"]) == report
    assert run_command(lambda: main([path, "--attest", "x:latest"])) == 64
