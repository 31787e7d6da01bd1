"""What is said and written when the engine dies."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from entrypoint.post_mortem import LINES, WIDTH, Coroner, listen

ROOT = Path(__file__).parents[3]


def event(name: str, payload: str) -> str:
    """Give an event as supervisord sends it."""
    return f"ver:3.0 eventname:{name} len:{len(payload)}\n{payload}"


def printed(text: str, program: str = "server") -> str:
    """Give the event of an output."""
    head = f"processname:{program} groupname:{program} pid:7 channel:stdout\n"
    return event("PROCESS_LOG_STDOUT", head + text)


def died(program: str = "server") -> str:
    """Give the event of a death."""
    payload = f"processname:{program} groupname:{program} from_state:RUNNING pid:7"
    return event("PROCESS_STATE_EXITED", payload)


def hear(folder: Path, *events: str) -> None:
    """Send the events, and then the end."""
    stdin = io.StringIO("".join(events), newline="")
    with pytest.raises(KeyError, match="len"):  # at the end there is no header
        listen(Coroner(folder, lambda: 12.5), stdin, io.StringIO())


def test_a_death_is_told_with_its_cause(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hear(
        tmp_path / "r",
        printed("loading 你好\r\nOSError: [Errno 28] No space"),
        printed(" left on device\n"),
        died(),
    )

    assert capsys.readouterr().err == (
        "error: the engine died: a disk is full (disk-full)\n"
        "  line: OSError: [Errno 28] No space left on device\n"
        "  fix: free some disk\n"
        "  more: docs/runbook.md#disk-full\n"
    )
    assert json.loads((tmp_path / "r/death.json").read_text()) == {
        "time": 12.5,
        "exit_code": None,
        "cause": "disk-full",
        "evidence": "OSError: [Errno 28] No space left on device",
        "remedy": "free some disk",
        "others": [],
        "deaths": {"disk-full": 1},
    }


def test_deaths_are_counted_and_each_has_its_own_lines(tmp_path: Path) -> None:
    hear(
        tmp_path,
        printed("No space left on device\n"),
        died(),
        printed("KeyError: 5\n"),
        died(),
        died(),
    )

    note = json.loads((tmp_path / "death.json").read_text())
    assert note["deaths"] == {"disk-full": 1, "unknown": 2}
    assert (note["cause"], note["evidence"]) == ("unknown", "")


@pytest.mark.parametrize(
    ("last", "code", "cause"),
    [
        ("exited: server (exit status 1; not expected)", 1, "unknown"),
        ("exited: server (terminated by SIGKILL; not expected)", -9, "killed"),
        (
            "exited: server (terminated by SIGSEGV (core dumped); not expected)",
            -11,
            "native-crash",
        ),
    ],
)
def test_the_exit_code_is_the_last_one_of_the_server(
    last: str, code: int, cause: str, tmp_path: Path
) -> None:
    (tmp_path / "supervisord.log").write_text(
        "2026-12-01 10:00:00,123 WARN exited: server (exit status 7; not expected)\n"
        f"2026-12-01 10:05:00,123 WARN {last}\n"
        "2026-12-01 10:05:01,123 WARN exited: exporter (exit status 3; not expected)\n"
    )

    hear(tmp_path / "r", printed("loading\n"), died())

    note = json.loads((tmp_path / "r/death.json").read_text())
    assert note["exit_code"] == code
    assert note["cause"] == cause


def test_other_programs_are_no_engine(tmp_path: Path) -> None:
    hear(tmp_path, printed("No space left on device\n", "exporter"), died("exporter"))

    assert list(tmp_path.iterdir()) == []


def test_only_the_last_lines_are_kept(tmp_path: Path) -> None:
    hear(tmp_path, printed("No space left on device\n" + "x\n" * LINES), died())

    assert json.loads((tmp_path / "death.json").read_text())["cause"] == "unknown"


def test_of_eight_workers_that_die_together_the_first_is_told(tmp_path: Path) -> None:
    traceback = "".join(f"  File x, line {n}\n" for n in range(200))

    hear(
        tmp_path,
        printed("No space left on device\n"),
        *[printed(f"{traceback}KeyError: {worker}\n") for worker in range(8)],
        died(),
    )

    assert json.loads((tmp_path / "death.json").read_text())["cause"] == "disk-full"


def test_a_progress_bar_pushes_nothing_out_and_does_not_grow() -> None:
    coroner = Coroner(Path("/proc/nothing"))
    coroner.hear("No space left on device\n")
    for n in range(2 * LINES):
        coroner.hear(f"\rLoading: {n % 100}%|{'█' * 100}| 1/2")
    coroner.hear("\rx" * 5 + "y" * 9 * WIDTH)

    assert len(coroner.lines) < 9
    assert max(len(line) for line in coroner.lines) <= WIDTH
    assert "disk-full" in coroner.report()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_ends_a_line(end: str) -> None:
    coroner = Coroner(Path("/proc/nothing"))
    coroner.hear(f"好的{end}KeyError: 5{end}")

    assert "line: KeyError: 5\n" in coroner.report()


@pytest.mark.parametrize("cut", [1, 2])
def test_what_supervisord_cannot_decode_is_decoded(cut: int) -> None:
    coroner = Coroner(Path("/proc/nothing"))
    sent = "INFO 12-01 10:38:00 [x.py:1] 好\nOSError: No space left on device: '\"█"
    coroner.hear(f"Undecodable: {sent.encode()[:-cut]!r}")

    assert "  line: OSError: No space left on device" in coroner.report()


@pytest.mark.parametrize("text", ["Undecodable: b'", "Undecodable: b'x' + y", "b''"])
def test_what_only_looks_so_is_left(text: str) -> None:
    coroner = Coroner(Path("/proc/nothing"))
    coroner.hear(text)

    assert list(coroner.lines) == [text]


@pytest.mark.parametrize(
    "note",
    [
        "[" * 100_000,
        "[]",
        "{}",
        '{"deaths": {"disk-full": "x"}}',
        '{"deaths": {"disk-full": null}}',
        '{"deaths": [1, 2]}',
        '{"deaths": "abc"}',
        '{"deaths": 5}',
        '{"deaths": {"disk-full": Infinity}}',
    ],
)
def test_a_broken_note_is_no_obstacle(note: str, tmp_path: Path) -> None:
    (tmp_path / "death.json").write_text(note)

    hear(tmp_path, printed("No space left on device\n"), died())

    told = json.loads((tmp_path / "death.json").read_text())
    assert told["deaths"] == {"disk-full": 1}


def test_a_piece_that_ends_in_a_carriage_return_is_answered(tmp_path: Path) -> None:
    """By a real pipe: a progress bar is cleared so, and no byte follows."""
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "entrypoint.post_mortem"],
        cwd=ROOT,
        env={**os.environ, "SUPERVISE_RUN_DIR": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(printed("\r      \r").encode())
        process.stdin.flush()
        try:
            assert process.stdout.read(15) == b"READY\nRESULT 2\n"
        finally:
            process.kill()


def test_a_death_is_told_where_no_file_can_be_written() -> None:
    coroner = Coroner(Path("/proc/nothing"))
    coroner.hear("OSError: [Errno 28] No space left on device")

    assert "disk-full" in coroner.report()
