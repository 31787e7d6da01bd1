"""Everything that can be checked before the engine is started, all at once.

A start costs a minute or more; three mistakes should cost one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bundle.checks import engine, fit, start
from bundle.checks.finding import FAILURE, OK
from bundle.checks.table import ENVIRONMENT, run_all
from bundle.errors import HostNotReady, Problem, raise_all

if TYPE_CHECKING:
    from bundle.checks.start import Start

CHECKS = (*start.CHECKS, *fit.CHECKS, *engine.CHECKS, *ENVIRONMENT)


def preflight(start: Start) -> None:
    """Run all checks; print what may spoil the start.

    Raises:
        HostNotReady: with every failure found.
    """
    found = [(c, f) for c, f in run_all(CHECKS, start) if f.level != OK]
    for check, finding in found:
        if finding.level != FAILURE:
            print(f"{finding.level}: {finding.found}\n  fix: {finding.remedy}")
            print(f"  more: {check.page}", flush=True)
    failures = [(check, finding) for check, finding in found if finding.level == FAILURE]
    raise_all(
        HostNotReady, (Problem(f.found, f.remedy, check.page) for check, f in failures)
    )
