"""The table: every check, and which of them a start, a doctor and a bare host run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bundle.checks import ascend, container, host
from bundle.checks.finding import Check, Finding, unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bundle.checks.world import World

BARE_HOST = (*host.CHECKS, *ascend.CHECKS)
# A start is refused for what it needs, and not for what the host has or lacks besides.
ENVIRONMENT = (*ascend.CHECKS, *container.CHECKS)


def run_all(checks: Iterable[Check], world: World) -> Iterator[tuple[Check, Finding]]:
    """Run `checks`; one that breaks is a finding too, and never a good one."""
    for check in checks:
        try:
            findings = list(check.run(world))
        except Exception as error:  # noqa: BLE001 - the others are still to be told
            what = f"the check itself broke: {type(error).__name__}: {error}"
            findings = [unknown(what, "report this with the support bundle")]
        for finding in findings:
            yield check, finding
