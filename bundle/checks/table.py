"""The table: every check, and which of them a start, a doctor and a bare host run."""

from __future__ import annotations

import time
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLate
from threading import Thread
from typing import TYPE_CHECKING

from bundle.checks import ascend, container, host
from bundle.checks.finding import Check, Finding, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bundle.checks.world import World

BARE_HOST = (*host.CHECKS, *ascend.CHECKS)
# A start is refused for what it needs, and not for what the host has or lacks besides.
ENVIRONMENT = (*ascend.CHECKS, *container.CHECKS)


def run_all(
    checks: Sequence[Check], world: World, seconds: float | None = None
) -> Iterator[tuple[Check, Finding]]:
    """Run `checks` side by side, since some wait for a command; give them in order.

    A check that takes longer than `seconds` could not tell; without it none is hurried.
    """
    begun = time.monotonic()
    for check, found in [(check, _begin(check, world)) for check in checks]:
        left = None if seconds is None else max(0, begun + seconds - time.monotonic())
        try:
            findings = found.result(left)
        except TooLate:
            remedy = "see what hangs: a card, or a network disk"
            findings = [unknown(f"no answer within {seconds:.0f} s", remedy)]
        for finding in findings:
            yield check, finding


def _begin(check: Check, world: World) -> Future[list[Finding]]:
    """Run one in a thread that does not keep a process alive, as a pool's does."""
    found: Future[list[Finding]] = Future()
    Thread(target=lambda: found.set_result(_run(check, world)), daemon=True).start()
    return found


def _run(check: Check, world: World) -> list[Finding]:
    """Run one; if it breaks, that is a finding too, and never a good one."""
    try:
        return list(check.run(world))
    except Exception as error:  # noqa: BLE001 - the others are still to be told
        what = f"the check itself broke: {type(error).__name__}: {error}"
        return [unknown(what, "report this with the support bundle")]
