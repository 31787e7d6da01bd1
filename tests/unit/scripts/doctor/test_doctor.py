"""The doctor's command: what it prints, for whom, and its exit code."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import threading
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from bundle.checks.finding import FAILURE, OK, UNKNOWN, WARNING, Check, ok
from bundle.checks.world import World
from bundle.errors import CouldNotRun, WrongUsage
from scripts.doctor import start
from scripts.doctor.__main__ import main
from scripts.doctor.compare import MOVING
from scripts.doctor.examine import Result, as_json, as_text, examine, is_good
from tests.fixtures.known_server import Profile, serve

ROOT = Path(__file__).parents[4]
GOOD = Result("cpus", OK, "2 CPUs may be used", "", "docs/runbook.md#cpus")
BAD = Result("hbm", FAILURE, "3 GiB are free", "end it", "docs/runbook.md#hbm")


def test_without_an_npu_it_says_what_that_means(
    capsys: pytest.CaptureFixture[str],
) -> None:
    if Path("/dev/davinci_manager").exists():
        pytest.skip("this machine has an NPU")
    main(["--host"], {})

    assert "no NPU here: the CPU engine serves" in capsys.readouterr().out


def test_all_of_it_takes_less_than_ten_seconds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    environ = {
        "BUNDLE_MODEL": "smollm2-135m-instruct",
        "BUNDLE_DEVICE": "cpu",
        "BUNDLE_ENGINE_PYTHON": sys.executable,
        "BUNDLE_WEIGHTS_DIR": str(tmp_path),
        "BUNDLE_RUN_DIR": str(tmp_path),
    }
    started = time.monotonic()

    assert main([], environ) == 1

    assert time.monotonic() - started < 10
    said = capsys.readouterr().out
    assert "weights" in said
    assert "has vLLM (none)" in said


@pytest.mark.parametrize(
    ("device", "said"),
    [
        ("cpu", "does not run: no answer within 4 s"),
        ("ascend", "npu-smi info gave no answer within 4 s"),
    ],
)
def test_commands_that_hang_are_findings_and_take_less_than_ten_seconds(
    device: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("npu-smi", "docker", "engine"):
        # With a child that keeps the output open, as a wrapper script has.
        (tmp_path / name).write_text("#!/bin/sh\nsleep 30 | sleep 30\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    environ = {
        "BUNDLE_MODEL": "qwen-1_8b-chat",
        "BUNDLE_DEVICE": device,
        "BUNDLE_ENGINE_PYTHON": str(tmp_path / "engine"),
        "BUNDLE_RUN_DIR": str(tmp_path),
    }
    started = time.monotonic()

    assert main([], environ) == 1

    assert time.monotonic() - started < 10
    assert said in capsys.readouterr().out


def test_a_check_that_hangs_is_a_finding_and_keeps_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("scripts.doctor.examine.SECONDS", 0.2)
    opened = threading.Event()
    hangs = Check("hangs", lambda _: [ok(str(opened.wait(60)))])

    found = examine([hangs, Check("works", lambda _: [ok("fine")])], World({}))

    opened.set()
    assert [(one.id, one.level) for one in found] == [("hangs", UNKNOWN), ("works", OK)]
    assert found[0].found == "no answer within 0 s"


def test_wrong_settings_are_a_finding_and_the_host_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([], {"BUNDLE_DEVICE": "gpu"}) == 1

    said = capsys.readouterr().out
    assert "BUNDLE_DEVICE='gpu'" in said
    assert "architecture" in said


def test_only_a_failure_is_bad() -> None:
    others = [Result("x", level, "", "do", "p") for level in (OK, WARNING, UNKNOWN)]

    assert is_good(others)
    assert not is_good([*others, BAD])


def test_the_text_has_remedy_and_page_and_colour_on_demand_only() -> None:
    assert as_text([GOOD, BAD], colour=False) == (
        "ok            cpus  2 CPUs may be used\n"
        "failure       hbm   3 GiB are free\n"
        "                fix: end it\n"
        "                more: docs/runbook.md#hbm\n"
        "1 ok, 0 warning, 1 failure, 0 could not tell"
    )
    assert "\033[31mfailure" in as_text([BAD], colour=True)


def test_two_reports_differ_where_the_hosts_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").write_text(as_json([GOOD, BAD]))
    (tmp_path / "b").write_text(as_json([GOOD]))

    assert main(["--compare", str(tmp_path / "a"), str(tmp_path / "b")], {}) == 1
    assert capsys.readouterr().out == (
        f"hbm\n  {tmp_path}/a: failure: 3 GiB are free\n  {tmp_path}/b: (not checked)\n"
    )
    assert main(["--compare", str(tmp_path / "a"), str(tmp_path / "a")], {}) == 0


def test_two_reports_are_compared_for_machines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").write_text("\ufeff" + as_json([GOOD]))
    (tmp_path / "b").write_text(as_json([BAD, GOOD]), encoding="utf-16")

    main(["--json", "--compare", str(tmp_path / "a"), str(tmp_path / "b")], {})

    assert json.loads(capsys.readouterr().out) == [
        {"id": "hbm", "first": ["(not checked)"], "second": ["failure: 3 GiB are free"]}
    ]


def test_figures_that_move_are_no_difference(tmp_path: Path) -> None:
    def compared(before: Result, after: Result) -> int:
        for name, one in (("a", before), ("b", after)):
            (tmp_path / name).write_text(as_json([one]))
        return main(["--compare", str(tmp_path / "a"), str(tmp_path / "b")], {})

    free = [Result("disk", OK, f"{size} GiB free in /", "", "") for size in (5, 6)]

    assert compared(*free) == 0
    assert compared(free[0], Result("disk", WARNING, "5 GiB free in /", "x", "")) == 1
    assert compared(GOOD, Result("cpus", OK, "4 CPUs may be used", "", "")) == 1


def test_every_check_whose_figures_move_is_one() -> None:
    assert set(MOVING) <= {check.id for check in (*start.HERE, *start.OF_A_START)}


def test_two_reports_of_this_host_do_not_differ(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "scripts.doctor", "--host", "--json"]
    for name in ("a", "b"):
        run = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
        (tmp_path / name).write_bytes(run.stdout)

    assert main(["--compare", str(tmp_path / "a"), str(tmp_path / "b")], {}) == 0


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"results": [1]}', "\x00", "[" * 100_000]
)
def test_what_is_no_report_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "a").write_text(text)

    with pytest.raises(CouldNotRun, match="is no report of the doctor"):
        main(["--compare", str(tmp_path / "a"), str(tmp_path / "a")], {})


def test_a_log_is_read_for_the_cause(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"\xff\nINFO x\nOSError: [Errno 28] No space left on device\n")

    assert main(["--log", str(log)], {}) == 1
    assert "a disk is full (disk-full)" in capsys.readouterr().out
    assert main(["--log", str(log), "--json"], {}) == 1
    assert json.loads(capsys.readouterr().out)["cause"] == "disk-full"
    log.write_text("INFO all is well\n")
    assert main(["--log", str(log)], {}) == 0
    with pytest.raises(CouldNotRun, match="cannot be read"):
        main(["--log", str(tmp_path / "none")], {})


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-16-le", "utf-8"])
def test_a_log_of_any_system_is_read(
    codec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    log.write_text("OSError: [Errno 28] No space left on device: 好\r\n", encoding=codec)

    assert main(["--log", str(log)], {}) == 1
    assert "line: OSError: [Errno 28] No space left" in capsys.readouterr().out


@pytest.mark.parametrize("option", [["--log"], ["--compare", "/dev/null"]])
@pytest.mark.parametrize("kind", ["fifo", "device", "folder"])
def test_what_might_never_end_is_refused(
    option: list[str], kind: str, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "fifo")
    name = {"device": "/dev/zero", "folder": str(tmp_path)}.get(kind, f"{tmp_path}/fifo")

    with pytest.raises(CouldNotRun, match="it is no plain file"):
        main([*option, name], {})


def test_escape_sequences_are_shown() -> None:
    said = as_text(
        [Result("npu-smi", FAILURE, "\x1b[2J\x07", "\x1b]0;", "p")], colour=False
    )

    assert said.isascii()
    assert r"\x1b[2J\x07" in said
    assert "\x1b" not in said


def test_a_server_url_that_is_none_is_no_traceback(tmp_path: Path) -> None:
    environ = {
        **os.environ,
        "BUNDLE_SERVER_URL": "http://a..b",
        "BUNDLE_DEVICE": "cpu",
        "BUNDLE_MODEL": "smollm2-135m-instruct",
        "BUNDLE_RUN_DIR": str(tmp_path),
    }
    run = subprocess.run(
        [sys.executable, "-m", "scripts.doctor", "--support-bundle", str(tmp_path / "s")],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode in {0, 1}
    assert "Traceback" not in run.stderr
    assert "architecture" in run.stdout
    assert (tmp_path / "s").is_file()


@pytest.mark.parametrize(
    "words",
    [
        ["--log", ""],
        ["--compare", "", "x"],
        ["--support-bundle", ""],
        ["--no-such"],
        ["x"],
        ["--compare", "a"],
        ["--host", "--support-bundle", "s.tar.gz"],
        ["--log", "x", "--compare", "a", "b"],
    ],
)
def test_wrong_usage_is_told(words: list[str]) -> None:
    with pytest.raises(WrongUsage):
        main(words, {})


def test_a_stranger_who_answers_200_is_no_server_that_is_up(tmp_path: Path) -> None:
    for name in ("health", "version"):
        (tmp_path / name).write_text("<html>hello</html>")
    folder = functools.partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    stranger = ThreadingHTTPServer(("127.0.0.1", 0), folder)
    threading.Thread(target=stranger.serve_forever, daemon=True).start()

    def is_up(url: str) -> bool:
        environ = {"BUNDLE_SERVER_URL": url, "BUNDLE_RUN_DIR": str(tmp_path)}
        return start.examine_all({**environ, "BUNDLE_DEVICE": "cpu"})[0].is_up

    with serve(Profile()) as engine:
        assert is_up(engine.url)
    assert not is_up(f"http://127.0.0.1:{stranger.server_port}")
    stranger.shutdown()
    stranger.server_close()
