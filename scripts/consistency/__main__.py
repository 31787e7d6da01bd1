"""`python -m scripts.consistency`: does this server answer as the reference does?"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bundle import api
from bundle.errors import ExitCode, run_command
from bundle.model import load_model, load_questions
from bundle.settings import load
from scripts.commandline import Parser, at_least_one
from scripts.consistency.record import MAX_TOKENS, Recording, read, record
from scripts.consistency.result import consistency
from scripts.consistency.table import table
from scripts.gate import exit_code
from scripts.output import prepare, write
from scripts.progress import progress
from scripts.target import require_model

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from bundle.api import Server
    from bundle.model import Question


def main(words: Sequence[str], environ: Mapping[str, str]) -> int:
    """Record a reference, or compare the server with one; 1 if a gate fails."""
    options = _parser().parse_args(words)
    settings = load(environ)
    model = load_model(settings.models_dir, settings.model)
    every = load_questions(settings.models_dir, settings.model)
    questions = every.quick if options.quick else every.every
    prepare(options.record.parent if options.record else options.out)
    server = api.server(settings)
    require_model(server, model.name)
    if options.record:
        return _record(server, model.name, questions, options)
    reference = _reference(server, model.name, questions, options)
    asked = [reply.question for reply in reference.replies]
    found = record(server, model.name, asked, progress("candidate"), reference.max_tokens)
    result = consistency(reference, found, model.thresholds.consistency)
    path = write(options.out / "consistency.json", result.model_dump_json(indent=2))
    print(f"{table(result)}\nresult: {path}")
    return exit_code(result.gates)


def _record(
    server: Server, model: str, questions: Sequence[Question], options: argparse.Namespace
) -> int:
    show = progress("recording")
    made = record(server, model, questions, show, options.max_tokens)
    print(f"recorded: {write(options.record, made.model_dump_json())}")
    return ExitCode.GOOD


def _reference(
    server: Server, model: str, questions: Sequence[Question], options: argparse.Namespace
) -> Recording:
    """Read the recorded run, or ask the other server; it has the same key."""
    if options.recorded:
        return read(options.recorded, model)
    other = server.at(options.reference)
    require_model(other, model)
    return record(other, model, questions, progress("reference"), options.max_tokens)


def _parser() -> Parser:
    parser = Parser("python -m scripts.consistency", description=__doc__)
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--reference", metavar="URL", help="another server, asked now")
    way.add_argument("--record", type=Path, metavar="FILE", help="write a recorded run")
    way.add_argument("--recorded", type=Path, metavar="FILE", help="compare with one")
    parser.add_argument("--quick", action="store_true", help="only the quick suite's")
    parser.add_argument("--max-tokens", type=at_least_one, default=MAX_TOKENS)
    parser.add_argument("--out", type=Path, default=Path("var/report/consistency"))
    return parser


if __name__ == "__main__":
    sys.exit(run_command(lambda: main(sys.argv[1:], os.environ)))
