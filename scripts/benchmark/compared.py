"""Options of the command that measure more than one point, and what they give."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, get_args

from scripts.benchmark import against, baseline, drawing, table
from scripts.benchmark.beside import Beside, beside, reference
from scripts.commandline import at_least_one, positive
from scripts.report.pages import write_pages
from scripts.report.words import Language, say

if TYPE_CHECKING:
    import argparse

    from scripts.benchmark.baseline import Baseline
    from scripts.benchmark.result import Benchmark
    from scripts.report.document import Section

AUTO = "auto"


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options to `parser`."""
    one_of = parser.add_mutually_exclusive_group()
    rates = "rates to measure, as 1,2,4,inf; auto: double, then bisect to the knee"
    one_of.add_argument("--sweep", type=_rates, metavar="RATES", help=rates)
    earlier = "a baseline.yaml or an earlier benchmark.json; else the reference's"
    one_of.add_argument("--baseline", type=Path, metavar="FILE", help=earlier)
    other = (
        "another server, measured by turns; exit 1 if ours is surely slower; "
        "it is sent the same key"
    )
    one_of.add_argument("--against", metavar="URL", help=other)
    rounds = "of --against"
    parser.add_argument(
        "--rounds", type=at_least_one, default=against.ROUNDS, help=rounds
    )
    parser.add_argument("--language", choices=get_args(Language), default="en")


def compare(
    result: Benchmark,
    known: Baseline | None,
    folder: Path,
    language: Language,
    *,
    on_card: bool,
) -> tuple[list[Section], bool]:
    """Set `result` beside its baseline; whether it is slower.

    If none is `known` it is the reference of the model in `folder`, for its own load.
    """
    found: Beside | None
    if known:
        found = beside(result, known, on_card=on_card)
    else:
        found = reference(result, folder, on_card=on_card)
    if found is None:
        return [], False
    print(f"\nbeside {found.title}")
    print(table.lines([(row.metric, baseline.line(row)) for row in found.rows]))
    return [drawing.baseline_section(found, say(language))], found.slower


def give(
    result: Benchmark, sections: list[Section], options: argparse.Namespace, name: str
) -> None:
    """Write Markdown and HTML."""
    drawn = drawing.document(result, sections, options.language)
    write_pages(drawn, options.out, name)


def _rates(word: str) -> str | tuple[float, ...]:
    """Read `auto`, or rates with commas between them."""
    return AUTO if word == AUTO else tuple(positive(one) for one in word.split(","))
