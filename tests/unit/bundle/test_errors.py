"""Operator errors: what, fix, where to read more; exit codes; no traceback."""

from __future__ import annotations

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
