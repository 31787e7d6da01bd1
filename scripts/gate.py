"""A gate: what was found against what is required, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bundle.errors import ExitCode
from bundle.model import Strict

if TYPE_CHECKING:
    from collections.abc import Sequence


class Gate(Strict):
    """One requirement."""

    name: str
    passed: bool
    found: str
    required: str


def at_most(name: str, count: int, total: int, share: float) -> Gate:
    """Require that `count` of `total` is no more than `share`, 0 to 1."""
    return Gate(
        name=name,
        passed=count <= share * total,
        found=f"{count} of {total}",
        required=f"at most {share:.0%}",
    )


def lines(gates: Sequence[Gate]) -> str:
    """One line per gate for the terminal."""
    return "\n".join(
        f"  {'pass' if gate.passed else 'FAIL'}  {gate.name}: {gate.found} "
        f"(required: {gate.required})"
        for gate in gates
    )


def exit_code(gates: Sequence[Gate]) -> ExitCode:
    """Good if every gate is passed."""
    good = all(gate.passed for gate in gates)
    return ExitCode.GOOD if good else ExitCode.CHECK_FAILED
