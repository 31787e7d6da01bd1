"""Operator errors: what, fix, where to read more; exit codes; no traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from bundle.errors import BadSettings, HostNotReady, Problem, raise_all, run_command


def test_every_problem_is_printed_with_its_fix_and_one_place_to_read(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def main() -> NoReturn:
        raise HostNotReady(Problem("a is 1", "make it 2"), Problem("b is 3", "make it 4"))

    assert run_command(main) == 69
    assert capsys.readouterr().err == (
        "error: a is 1\n  fix: make it 2\nerror: b is 3\n  fix: make it 4\n"
        "  more: docs/runbook.md#exit-69\n"
    )


def test_a_terminal_obeys_nothing_of_what_was_found() -> None:
    said = str(Problem("npu-smi said \x1b[2J\x07\nand 好", "do"))

    assert said == "error: npu-smi said \\x1b[2J\\x07\nand 好\n  fix: do"


def test_ctrl_c_is_a_sentence_and_exit_2(capsys: pytest.CaptureFixture[str]) -> None:
    def main() -> NoReturn:
        raise KeyboardInterrupt

    assert run_command(main) == 2
    assert capsys.readouterr().err == "\nstopped by Ctrl-C\n"


def test_our_own_bugs_keep_their_traceback() -> None:
    def main() -> NoReturn:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_command(main)


def test_no_problem_raises_nothing() -> None:
    raise_all(BadSettings, [])


ROOT = Path(__file__).parents[3]
SAYS = """
import sys
from bundle.errors import run_command
sys.exit(run_command(lambda: print("好" * 100_000) or 0))
"""


def run(redirect: str, *options: str, code: str = SAYS) -> tuple[int, str]:
    """Run `code` in a shell that does `redirect`; give exit code and stderr."""
    done = subprocess.run(
        [
            "/bin/bash",
            "-c",
            f'exec "$@" {redirect}',
            "-",
            sys.executable,
            *options,
            "-c",
            code,
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("options", [(), ("-u",)])
def test_output_that_nobody_takes_is_no_traceback(options: tuple[str, ...]) -> None:
    full = "error: the output cannot be written: No space left on device\n"

    assert run(">&-", *options) == (0, "")
    assert run("2>&- >&-", *options) == (0, "")
    assert run("> >(true)", *options) == (2, "")
    code, said = run(">/dev/full", *options)
    assert (code, said[: len(full)]) == (2, full)


def test_a_short_output_is_missed_as_well() -> None:
    code, said = run(">/dev/full", code=SAYS.replace("100_000", "1"))

    assert code == 2
    assert said.count("\n") == 3


def test_what_cannot_be_opened_keeps_its_traceback() -> None:
    code, said = run("", code=SAYS.replace('print("好" * 100_000)', 'open("/no")'))

    assert code == 1
    assert "FileNotFoundError" in said


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_every_encoding_of_the_output_will_do(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", encoding)

    assert run("") == (0, "")
