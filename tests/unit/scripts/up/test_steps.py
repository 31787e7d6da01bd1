"""Steps are told in their order, with their sum."""

from __future__ import annotations

from scripts.up.steps import Steps


def test_steps_are_told_with_their_sum() -> None:
    times = iter([0.0, 3.0, 3.0, 10.4])
    steps = Steps(clock=lambda: next(times))

    with steps.step("install"):
        pass
    with steps.step("start"):
        pass

    assert str(steps) == "install 3 s, start 7 s; together 10 s"
