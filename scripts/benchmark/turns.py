"""`--against`: two servers by turns, and what is kept of it, also when it is stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bundle.errors import CouldNotRun, ExitCode
from scripts.benchmark import against, table
from scripts.benchmark.result import benchmark
from scripts.output import write
from scripts.progress import progress
from scripts.report.document import Document, Section, Table
from scripts.report.pages import write_pages
from scripts.report.words import say
from scripts.target import require_model

if TYPE_CHECKING:
    import argparse

    from bundle.api import Server
    from bundle.model import Model
    from scripts.benchmark.against import Against, Pair
    from scripts.benchmark.load import Load
    from scripts.benchmark.result import Benchmark
    from scripts.report.words import Language


def run_against(
    server: Server, load: Load, model: Model, options: argparse.Namespace
) -> ExitCode:
    """Measure both servers by turns, and say whether ours is slower.

    Raises:
        CouldNotRun: a server died; the rounds before are kept.
        KeyboardInterrupt: Ctrl-C; likewise.
    """
    other = server.at(options.against)
    require_model(other, model.name)

    def measure(one: Server, label: str) -> Benchmark:
        return benchmark(one, load.anew(), model.slo, progress(label))

    pairs: list[Pair] = []
    turns = against.by_turns(
        lambda: measure(server, "ours"), lambda: measure(other, "theirs"), options.rounds
    )
    try:
        pairs.extend(turns)  # keeps what came before an error
    except (CouldNotRun, KeyboardInterrupt):
        if pairs:
            _give(against.compare(server.url, other.url, options.rounds, pairs), options)
        raise
    return _give(against.compare(server.url, other.url, options.rounds, pairs), options)


def _give(found: Against, options: argparse.Namespace) -> ExitCode:
    """Keep the rounds, and show how the servers compare."""
    write(options.out / "against.json", found.model_dump_json(indent=2) + "\n")
    _, path = write_pages(document(found, options.language), options.out, "against")
    print(f"\n{found.title()}")
    print(table.lines([(row.metric, against.line(row)) for row in found.rows]))
    if found.invalid:
        print(f"{found.invalid} of {2 * len(found.pairs)} runs are invalid")
    print(f"report: {path}", flush=True)
    slower = any(row.regression for row in found.rows)
    return ExitCode.CHECK_FAILED if slower or found.invalid else ExitCode.GOOD


def document(found: Against, language: Language) -> Document:
    """Give the report: each metric with its ratio, and the runs that do not count."""
    word = say(language)
    rows = tuple((row.metric, against.line(row)) for row in found.rows)
    invalid = f"{word('invalid')}: {found.invalid} / {2 * len(found.pairs)}"
    blocks = (found.title(), Table((word("metric"), word("ratio")), rows), invalid)
    return Document(
        title=word("By turns with another server"),
        lead=table.asked(found.pairs[0][0]),
        sections=(Section(word("Benchmark"), blocks),),
        language=language,
    )
