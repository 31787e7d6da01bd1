"""`python -m scripts.benchmark`: put a load on the server and say what it did."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bundle import api
from bundle.errors import ExitCode, run_command
from bundle.model import load_model
from bundle.settings import load
from scripts.benchmark import compared, plan, superset, table
from scripts.benchmark import options as workload
from scripts.benchmark.beside import named
from scripts.benchmark.load import Load
from scripts.benchmark.result import Benchmark, Stopped, as_asked, benchmark
from scripts.benchmark.sweeping import run_sweep
from scripts.benchmark.turns import run_against
from scripts.commandline import Parser, at_least_one, positive
from scripts.output import prepare, write
from scripts.progress import progress
from scripts.target import on_card, require_model

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def main(words: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run the benchmark on the server that the settings name."""
    if words[:1] == ["plan"]:
        return plan.main(words[1:])
    options = _parser().parse_args(words)
    settings = load(environ)
    model = load_model(settings.models_dir, settings.model)
    asked = workload.load(options, model.name)
    prepare(options.out)
    server = api.server(settings)
    require_model(server, model.name)
    if options.sweep:
        return run_sweep(server, asked, model, options)
    if options.against:
        return run_against(server, asked, model, options)
    known = named(options.baseline, as_asked(asked)) if options.baseline else None
    try:
        result = benchmark(server, asked, model.slo, progress("requests"))
    except Stopped as stopped:
        _give(stopped.result, options.out)
        return ExitCode.COULD_NOT_RUN
    _give(result, options.out)
    sections, slower = compared.compare(
        result,
        known,
        settings.models_dir / model.name,
        options.language,
        on_card=on_card(settings),
    )
    compared.give(result, sections, options, "benchmark")
    good = result.valid and not slower
    return ExitCode.GOOD if good else ExitCode.CHECK_FAILED


def _give(result: Benchmark, out: Path) -> None:
    """Keep the result, and show it."""
    path = write(out / "benchmark.json", superset.text(result))
    found, checks = table.lines(table.rows(result)), table.lines(table.checks(result))
    print(f"\n{table.asked(result)}\n{found}\n\n{checks}\nresult: {path}", flush=True)


def _parser() -> Parser:
    parser = Parser("python -m scripts.benchmark", description=__doc__)
    base = Load("")
    parser.add_argument("--input-len", type=at_least_one, default=base.input_len)
    parser.add_argument("--output-len", type=at_least_one, default=base.output_len)
    rate_help = "requests per second, inf for all at once"
    parser.add_argument(
        "--request-rate", type=positive, default=base.rate, help=rate_help
    )
    parser.add_argument("--num-prompts", type=at_least_one, default=base.num_prompts)
    parser.add_argument("--seed", type=int, default=base.seed)
    workload.add(parser)
    compared.add(parser)
    parser.add_argument("--out", type=Path, default=Path("var/benchmark"))
    return parser


if __name__ == "__main__":
    sys.exit(run_command(lambda: main(sys.argv[1:], os.environ)))
