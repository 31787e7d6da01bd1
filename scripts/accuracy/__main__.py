"""`python -m scripts.accuracy gsm8k|own|fetch`: word problems, scored and judged."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bundle import api
from bundle.errors import ExitCode, run_command
from bundle.model import load_model
from bundle.settings import load
from scripts.accuracy import problems
from scripts.accuracy.ask import Run
from scripts.accuracy.measure import MAX_TOKENS, measure, most_at_once, request_to
from scripts.accuracy.table import summary
from scripts.commandline import Parser, at_least_one
from scripts.gate import exit_code, lines
from scripts.output import prepare, write
from scripts.target import require_model

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from scripts.accuracy.problems import DataSet


def main(words: Sequence[str], environ: Mapping[str, str]) -> int:
    """Ask the problems of the server that the settings name; 1 if a gate fails."""
    options = _parser().parse_args(words)
    if options.problems == "fetch":
        problems.gsm8k(None)
        return ExitCode.GOOD if problems.CACHE.exists() else ExitCode.COULD_NOT_RUN
    settings = load(environ)
    model = load_model(settings.models_dir, settings.model)
    data = _data(options)
    request = request_to(model, options.max_tokens, fewshot=options.fewshot)
    prepare(options.out)
    server = api.server(settings)
    require_model(server, model.name)
    at_once = options.at_once or settings.max_num_seqs or most_at_once(model)
    run = Run(server, data.problems[: options.limit], request, at_once)
    result = measure(run, data, model, options.out)
    path = write(options.out / f"{data.name}.json", result.model_dump_json(indent=2))
    print(f"{summary(result)}\n{lines(result.gates)}\nresult: {path}")
    return exit_code(result.gates)


def _data(options: argparse.Namespace) -> DataSet:
    if options.problems == "own":
        return problems.own()
    return problems.gsm8k(options.data)


def _parser() -> Parser:
    parser = Parser("python -m scripts.accuracy", description=__doc__)
    parser.add_argument("problems", choices=("gsm8k", "own", "fetch"))
    parser.add_argument(
        "--limit",
        type=at_least_one,
        help="20: the reference run's, a liveness check; 200: standard; default: all",
    )
    parser.add_argument(
        "--fewshot", action="store_true", help="four solved problems before each question"
    )
    parser.add_argument("--data", type=Path, help="a copy of GSM8K's test.jsonl")
    parser.add_argument("--max-tokens", type=at_least_one, default=MAX_TOKENS)
    parser.add_argument("--at-once", type=at_least_one, help="default: the model's batch")
    parser.add_argument("--out", type=Path, default=Path("var/report/accuracy"))
    return parser


if __name__ == "__main__":
    sys.exit(run_command(lambda: main(sys.argv[1:], os.environ)))
