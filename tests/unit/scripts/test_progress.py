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
