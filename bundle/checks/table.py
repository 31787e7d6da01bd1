"""The table: every check, and which of them a start, a doctor and a bare host run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from bundle.checks import ascend, container, host
from bundle.checks.finding import Check, Finding, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bundle.checks.world import World

BARE_HOST = (*host.CHECKS, *ascend.CHECKS)
# A start is refused for what it needs, and not for what the host has or lacks besides.
ENVIRONMENT = (*ascend.CHECKS, *container.CHECKS)


def run_all(checks: Sequence[Check], world: World) -> Iterator[tuple[Check, Finding]]:
    """Run `checks` side by side, since some wait for a command; give them in order."""
    with ThreadPoolExecutor() as pool:
        results = pool.map(lambda check: _run(check, world), checks)
        for check, findings in zip(checks, results):  # noqa: B905 - not in 3.9
            for finding in findings:
                yield check, finding


def _run(check: Check, world: World) -> list[Finding]:
    """Run one; if it breaks, that is a finding too, and never a good one."""
    try:
        return list(check.run(world))
    except Exception as error:  # noqa: BLE001 - the others are still to be told
        what = f"the check itself broke: {type(error).__name__}: {error}"
        return [unknown(what, "report this with the support bundle")]
