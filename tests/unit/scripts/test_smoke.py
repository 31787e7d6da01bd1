"""The smoke test as an operator runs it, against a server whose truth is known."""

from __future__ import annotations

import dataclasses
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import numpy as np
import pytest

from bundle.errors import run_command
from bundle.model import load_model, load_questions
from scripts import smoke, suites
from scripts.accuracy import problems
from scripts.benchmark.result import benchmark
from scripts.parity import score, verdict
from scripts.report.files import schema
from tests.fixtures.known_server import Profile, serve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scripts.benchmark.result import Benchmark

ROOT = Path(__file__).parents[3]
DEMO = "smollm2-135m-instruct"
SCHEMA = ROOT / "docs/report.schema.json"


def _right_answers() -> dict[str, str]:
    return {one.ask: one.any_of[0] for one in load_questions(ROOT / "models", DEMO).quick}


def _environ(url: str) -> dict[str, str]:
    return {"BUNDLE_MODEL": DEMO, "BUNDLE_SERVER_URL": url}


def _smoke(out: Path, environ: Mapping[str, str], *words: str) -> int:
    return run_command(lambda: smoke.main([*words, "--out", str(out)], environ, SUITES))


def _measure(target: suites.Target) -> Benchmark:
    """Put the quick suite's load on the server, in a tenth of its time."""
    load = dataclasses.replace(suites.quick_load(target.model.name), rate=10.0)
    return benchmark(target.server, load, target.model.slo, lambda *_: None)


SUITES = {name: {**parts, "benchmark": _measure} for name, parts in suites.SUITES.items()}


def _every_answer() -> dict[str, str]:
    every = load_questions(ROOT / "models", DEMO).every
    return {one.ask: one.any_of[0] for one in every}


def _nowhere() -> problems.Source:
    """Give a source that does not answer."""
    return problems.Source(url="http://127.0.0.1:9/x", sha256="", size_bytes=0)


def _report(out: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((out / "report.json").read_text())
    return report


def test_a_good_server_passes_and_leaves_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(Profile(answers=_right_answers())) as known:
        code = _smoke(tmp_path, _environ(known.url))
    report = _report(tmp_path)

    assert (code, report["verdict"], report["version"]) == (0, "pass", 1)
    assert report["environment"]["server"]["version"] == "0.23.0"
    assert len(report["questions"]["answers"]) == 8
    jsonschema.validate(report, json.loads(SCHEMA.read_text()))
    shown = capsys.readouterr().out
    assert "TTFT mean" in shown
    assert str(tmp_path / "report.md") in shown


def test_wrong_answers_fail_and_are_shown(tmp_path: Path) -> None:
    with serve(Profile()) as known:
        code = _smoke(tmp_path, _environ(known.url))

    assert code == 1
    assert [one["verdict"] for one in _report(tmp_path)["checks"]] == ["fail", "pass"]
    assert (tmp_path / "report.md").read_text().count("I do not know.") == 8


def test_a_failed_request_fails_the_benchmark(tmp_path: Path) -> None:
    profile = Profile(
        answers=_right_answers(), fault="stream_error", faulty=frozenset({4})
    )
    with serve(profile) as known:
        code = _smoke(tmp_path, _environ(known.url))
    report = _report(tmp_path)

    assert code == 1
    assert report["checks"][1]["verdict"] == "fail"
    assert "EngineCore died" in report["checks"][1]["found"]


def test_a_part_that_cannot_run_is_named_and_the_other_still_runs(tmp_path: Path) -> None:
    with serve(Profile(answers=_right_answers(), fault="http_500")) as known:
        code = _smoke(tmp_path, _environ(known.url))
    report = _report(tmp_path)

    assert (code, report["verdict"]) == (2, "not run")
    assert report["benchmark"] is None
    assert report["questions"]["right"] == 8
    assert report["not_run"][0]["part"] == "benchmark"
    assert "HTTP 500" in report["not_run"][0]["reason"]
    jsonschema.validate(report, json.loads(SCHEMA.read_text()))


def test_a_chat_that_answers_with_an_error_could_not_run(tmp_path: Path) -> None:
    with serve(Profile(chat_status=500)) as known:
        code = _smoke(tmp_path, _environ(known.url))

    assert code == 2
    assert "500" in _report(tmp_path)["not_run"][0]["reason"]


def test_a_dead_server_is_exit_2_and_no_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        code = _smoke(tmp_path, _environ(f"http://127.0.0.1:{free.getsockname()[1]}"))

    assert code == 2
    assert not (tmp_path / "report.json").exists()
    assert "does not answer" in capsys.readouterr().err


def test_another_model_than_the_named_one_is_exit_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(Profile(model="other")) as known:
        code = _smoke(tmp_path, _environ(known.url))

    assert code == 2
    assert f"serves other, not {DEMO}" in capsys.readouterr().err


def test_a_folder_that_takes_no_files_is_exit_2_before_anything_runs(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("")
    with serve(Profile()) as known:
        code = _smoke(tmp_path / "file" / "out", _environ(known.url))

    assert code == 2
    assert known.chats == []


def test_a_check_that_could_not_be_made_is_named_in_the_verdict(tmp_path: Path) -> None:
    with serve(Profile(answers=_right_answers(), fault="no_usage")) as known:
        code = _smoke(tmp_path, _environ(known.url))

    assert code == 0
    found = _report(tmp_path)["checks"][1]["found"]
    assert found == "valid; not checked: prompt tokens, cached prompt tokens"


def test_the_standard_suite_runs_every_part_and_names_what_it_has_no_means_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(problems, "CACHE", tmp_path / "none")
    monkeypatch.setattr(problems, "source", _nowhere)
    with serve(Profile(answers=_every_answer())) as known:
        _smoke(tmp_path, _environ(known.url), "--suite", "standard")
    report = _report(tmp_path)

    assert report["questions"]["right"] == 50
    assert "own-written" in report["accuracy"]["title"]
    names = [check["name"] for check in report["checks"]]
    assert names[:2] == ["questions", "benchmark"]
    assert "accuracy: truncated answers" in names
    missing = {one["part"]: one["reason"] for one in report["not_run"]}
    assert missing.keys() == {"consistency", "parity"}
    assert "--record F" in missing["consistency"]
    assert "scripts.parity record" in missing["parity"]
    jsonschema.validate(report, json.loads(SCHEMA.read_text()))


def test_what_a_suite_leaves_out_is_in_its_report(tmp_path: Path) -> None:
    with serve(Profile(answers=_right_answers())) as known:
        _smoke(tmp_path, _environ(known.url))
    missing = {one["part"] for one in _report(tmp_path)["not_run"]}

    assert missing == {"accuracy", "consistency", "parity", "base point 512/128"}


def test_a_golden_file_that_cannot_be_read_is_no_pass(tmp_path: Path) -> None:
    words = ("--suite", "full", "--golden", str(tmp_path / "none.npz"))
    only: dict[str, dict[str, Any]] = {
        **SUITES,
        "full": {"parity": suites.against_golden},
    }
    with serve(Profile()) as known:
        environ = {**_environ(known.url), "BUNDLE_RUN_DIR": str(tmp_path)}
        code = run_command(
            lambda: smoke.main([*words, "--out", str(tmp_path)], environ, only)
        )

    assert code == 2
    (check,) = _report(tmp_path)["checks"]
    assert (check["name"], check["verdict"]) == ("parity", "not run")


def _passing_parity() -> str:
    p = np.log([[0.5, 0.5]])
    figures = score.figures(score.full(p, p, np.array([0])), None)
    limits = load_model(ROOT / "models", DEMO).thresholds.parity["bfloat16"]
    return verdict.finished(
        "server", "bfloat16", "a" * 64, figures, floor=None, limits=limits, started=0
    ).model_dump_json()


def test_parity_of_an_earlier_run_is_no_result_of_this_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 1 without a file is a crash, or an engine that gives no numbers."""
    (tmp_path / "parity").mkdir()
    (tmp_path / "parity/parity.json").write_text(_passing_parity())
    crash = tmp_path / "python"
    crash.write_text("#!/bin/sh\nexit 1\n")
    crash.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(crash))
    words = ("--suite", "full", "--golden", str(tmp_path / "golden.npz"))
    only: dict[str, dict[str, Any]] = {"full": {"parity": suites.against_golden}}
    with serve(Profile()) as known:
        environ = {**_environ(known.url), "BUNDLE_RUN_DIR": str(tmp_path)}
        code = run_command(
            lambda: smoke.main([*words, "--out", str(tmp_path)], environ, only)
        )

    assert code == 2
    assert "ended with 1 and no result" in _report(tmp_path)["not_run"][0]["reason"]


@pytest.mark.parametrize("option", ["--golden", "--recorded"])
def test_a_file_that_the_suite_would_pass_over_is_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    assert _smoke(tmp_path, {}, option, str(tmp_path / "file")) == 64
    assert f"{option} was given, and the quick suite has no" in capsys.readouterr().err


def test_an_unknown_suite_is_wrong_usage(tmp_path: Path) -> None:
    assert _smoke(tmp_path, {}, "--suite", "nonsense") == 64


def test_the_key_is_sent_and_stays_out_of_report_and_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = "sk-very-secret"
    (tmp_path / "key").write_text(key + "\n")
    with serve(Profile(answers=_right_answers(), key=key)) as known:
        environ = _environ(known.url) | {"BUNDLE_API_KEY_FILE": str(tmp_path / "key")}
        environ |= {"BUNDLE_EXTRA_ARGS": f"--api-key {key}"}
        code = _smoke(tmp_path, environ)

    shown = capsys.readouterr()
    written = (tmp_path / "report.json").read_text() + (
        tmp_path / "report.md"
    ).read_text()
    assert code == 0
    assert key not in written + shown.out + shown.err
    assert _report(tmp_path)["environment"]["settings"]["BUNDLE_API_KEY_FILE"] == "(set)"


def test_the_committed_schema_is_fresh() -> None:
    """Make it anew: `python -m scripts.report --schema > docs/report.schema.json`."""
    assert SCHEMA.read_text() == schema()


@pytest.mark.parametrize("command", ["smoke", "benchmark", "questions"])
def test_each_command_ends_with_2_and_no_traceback_without_a_server(
    command: str, tmp_path: Path
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        environ = {**os.environ, **_environ(url), "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-m", f"scripts.{command}"],
            env=environ,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    assert done.returncode == 2
    assert "does not answer" in done.stderr
    assert "Traceback" not in done.stderr
