"""Progress shows done, total and what is left; a log gets few lines."""

from __future__ import annotations

import io

from scripts.progress import progress


def test_a_log_gets_a_few_lines_and_the_last() -> None:
    out = io.StringIO()
    times = iter(range(100))
    show = progress("requests", out, clock=lambda: float(next(times)))
    for done in range(1, 11):
        show(done, 10)

    lines = out.getvalue().splitlines()
    assert lines[0] == "  requests: 3 of 10, about 7 s left"
    assert lines[-1] == "  requests: 10 of 10"
    assert len(lines) <= 5


class Terminal(io.StringIO):
    """A terminal, as far as progress asks."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def test_a_terminal_gets_one_line_that_is_written_over() -> None:
    out = Terminal()
    times = iter([0.0, 2.0, 4.0, 4.0])
    show = progress("requests", out, clock=lambda: next(times))
    show(1, 2, "TTFT 64 ms")
    show(2, 2)
    show(2, 2)

    first, *others = [line.rstrip(" ") for line in out.getvalue().split("\r")[1:]]
    assert first == "  requests: 1 of 2, about 2 s left, TTFT 64 ms"
    assert out.getvalue().count("\n") == 1
    assert len(others) == 2


def test_a_log_hears_of_a_slow_step_every_half_minute() -> None:
    out = io.StringIO()
    times = iter([0.0, 10.0, 31.0, 40.0])
    show = progress("requests", out, clock=lambda: next(times))
    for _ in range(3):
        show(0, 8)

    assert out.getvalue() == "  requests: 0 of 8\n"
