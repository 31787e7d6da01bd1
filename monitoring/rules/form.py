"""The form of a rule, and of the file that Prometheus reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import yaml

if TYPE_CHECKING:
    from collections.abc import Sequence

# page: wake somebody now. ticket: on the next working day. none: for machines.
Severity = Literal["page", "ticket", "none"]


@dataclass(frozen=True)
class Record:
    """A value that is computed once and used in several places."""

    record: str
    expr: str


@dataclass(frozen=True)
class Alert:
    """When `expr` has held for `wait`, somebody hears `felt`: what a user feels.

    `window` tells alerts of one name apart.
    """

    name: str
    expr: str
    wait: str
    severity: Severity
    felt: str
    window: str = ""

    @property
    def runbook(self) -> str:
        """Where it says what to do; the heading is the name."""
        return f"docs/runbook.md#{self.name.lower()}"


def group(name: str, rules: Sequence[Record | Alert]) -> dict[str, Any]:
    """Give a rule group as Prometheus' YAML has it."""
    return {"name": name, "rules": [_rule(rule) for rule in rules]}


def dump(groups: Sequence[dict[str, Any]]) -> str:
    """Give the text of a rule file."""
    return yaml.dump(
        {"groups": list(groups)},
        Dumper=_Dumper,
        sort_keys=False,
        width=1000,
        allow_unicode=True,
    )


def _rule(rule: Record | Alert) -> dict[str, Any]:
    if isinstance(rule, Record):
        return {"record": rule.record, "expr": rule.expr}
    window = {"window": rule.window} if rule.window else {}
    return {
        "alert": rule.name,
        "expr": rule.expr,
        "for": rule.wait,
        "labels": {"severity": rule.severity, **window},
        "annotations": {"summary": rule.felt, "runbook_url": rule.runbook},
    }


class _Dumper(yaml.SafeDumper):
    """Writes an expression of several lines as a block, so that a person can read it."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
