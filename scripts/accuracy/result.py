"""From answers to a score, and to pass or fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bundle.model import Reference, Strict
from scripts.accuracy import numbers
from scripts.accuracy.answers import Settings
from scripts.gate import Gate, at_most
from scripts.rate import Rate, rate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    from bundle.model import Model
    from scripts.accuracy.answers import Answer
    from scripts.accuracy.problems import DataSet

_STANDARD = 200  # below it an interval is wider than 13 points


class Accuracy(Strict):
    """The result of a run; each answer is a line of the file beside it.

    `strict` and `flexible` are rates of right answers, read so; see `numbers`.
    An answer that was cut at the token limit is neither right nor unparseable: it is
    truncated. `reference` is the published score in percent, and for GSM8K only.
    """

    title: str
    label: str
    settings: Settings
    asked: int
    strict: Rate
    flexible: Rate
    unparseable: int
    truncated: int
    reference: Reference | None
    gates: tuple[Gate, ...]

    @property
    def passed(self) -> bool:
        """Whether every gate is passed."""
        return all(gate.passed for gate in self.gates)


def accuracy(
    data: DataSet, answers: Sequence[Answer], settings: Settings, model: Model
) -> Accuracy:
    """Score `answers`, of which there must be at least one."""
    whole = [answer for answer in answers if answer.finish_reason != "length"]
    flexible = _right(data, whole, numbers.flexible, len(answers))
    unparseable = sum(numbers.flexible(answer.text) is None for answer in whole)
    truncated = len(answers) - len(whole)
    reference = model.reference("gsm8k") if data.name == "gsm8k" else None
    return Accuracy(
        title=data.title,
        label=label(data, len(answers)),
        settings=settings,
        asked=len(answers),
        strict=_right(data, whole, numbers.strict, len(answers)),
        flexible=flexible,
        unparseable=unparseable,
        truncated=truncated,
        reference=reference,
        gates=_gates(model, flexible, (unparseable, truncated, len(answers))),
    )


def label(data: DataSet, asked: int) -> str:
    """Say how much a run of `asked` problems can tell."""
    if asked == len(data.problems):
        return f"all {asked}"
    if asked >= _STANDARD:
        return f"the first {asked} of {len(data.problems)}"
    return f"liveness check: the first {asked} of {len(data.problems)}, no measurement"


def _right(
    data: DataSet,
    whole: Sequence[Answer],
    read: Callable[[str], Fraction | None],
    asked: int,
) -> Rate:
    right = sum(
        numbers.same(read(answer.text), data.problems[answer.index].answer)
        for answer in whole
    )
    return rate(right, asked)


def _gates(
    model: Model, flexible: Rate, counts: tuple[int, int, int]
) -> tuple[Gate, ...]:
    unparseable, truncated, asked = counts
    limits = model.thresholds.word_problems
    gates = [
        at_most("truncated answers", truncated, asked, limits.truncated_share),
        at_most("unparseable answers", unparseable, asked, limits.unparseable_share),
    ]
    published = model.reference("gsm8k")
    if published and limits.margin_points is not None:
        gates.insert(0, _near(flexible, published, limits.margin_points))
    return tuple(gates)


def _near(flexible: Rate, published: Reference, margin: float) -> Gate:
    """Require that the score may well be the published one, less the margin.

    Our own problems are no harder than GSM8K's, so the same holds for them.
    """
    upper, needed = 100 * (flexible.interval.high or 0), published.value - margin
    return Gate(
        name="right answers",
        passed=upper >= needed,
        found=f"{flexible.share:.1%}, 95% interval up to {upper:.1f}%",
        required=f"it reaches {needed:.1f}% (published on GSM8K: {published.value}%)",
    )
