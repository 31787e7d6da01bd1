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
from scripts.accuracy.answers import AnswerFile, Request, Settings
from scripts.accuracy.ask import Run, ask_all
from scripts.accuracy.result import Accuracy, accuracy
from scripts.commandline import Parser, at_least_one
from scripts.gate import exit_code, lines
from scripts.output import prepare, write
from scripts.progress import progress
from scripts.target import require_model

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from bundle.model import Model
    from scripts.accuracy.problems import DataSet
    from scripts.accuracy.result import Right


def main(words: Sequence[str], environ: Mapping[str, str]) -> int:
    """Ask the problems of the server that the settings name; 1 if a gate fails."""
    options = _parser().parse_args(words)
    if options.problems == "fetch":
        problems.gsm8k(None)
        return ExitCode.GOOD if problems.CACHE.exists() else ExitCode.COULD_NOT_RUN
    settings = load(environ)
    model = load_model(settings.models_dir, settings.model)
    data = _data(options)
    request = _request(options, model)
    prepare(options.out)
    server = api.server(settings)
    require_model(server, model.name)
    at_once = options.at_once or settings.max_num_seqs or most_at_once(model)
    run = Run(server, data.problems[: options.limit], request, at_once)
    result = measure(run, data, model, options.out)
    path = write(options.out / f"{data.name}.json", result.model_dump_json(indent=2))
    print(f"{summary(result)}\n{lines(result.gates)}\nresult: {path}")
    return exit_code(result.gates)


def measure(run: Run, data: DataSet, model: Model, out: Path) -> Accuracy:
    """Ask the problems of `run`, going on with what `out` has, and score the answers."""
    settings = Settings(
        data=data.name,
        data_sha256=data.sha256,
        asked=len(run.problems),
        server=run.server.url,
        engine=run.server.version(),
        request=run.request,
    )
    file = AnswerFile(out / f"{data.name}.partial.jsonl", settings)
    if file.answers:
        print(f"going on from {len(file.answers)} answers in {file.path}", flush=True)
    ask_all(run, file, progress(data.title))
    file.finish()
    answers = [file.answers[index] for index in sorted(file.answers)]
    return accuracy(data, answers, settings, model)


def most_at_once(model: Model) -> int:
    """Give the largest batch of any device: what a smaller one cannot take, it queues."""
    return max(serving.max_num_seqs for serving in model.serving.values())


def summary(result: Accuracy) -> str:
    """Give the scores in words."""
    told = [
        f"{result.title}, {result.label}",
        f"  flexible {_words(result.flexible, result.asked)}",
        f"  strict   {_words(result.strict, result.asked)}",
        f"  unparseable {result.unparseable}, truncated {result.truncated}",
    ]
    if result.reference:
        told.append(f"  published {result.reference.value}%: {result.reference.source}")
    return "\n".join(told)


def _words(score: Right, asked: int) -> str:
    low, high = score.interval.low or 0, score.interval.high or 0
    share = f"{score.right} of {asked} right = {score.share:.1%}"
    return f"{share} (95% interval {low:.1%} to {high:.1%})"


def _data(options: argparse.Namespace) -> DataSet:
    if options.problems == "own":
        return problems.own()
    return problems.gsm8k(options.data)


def _request(options: argparse.Namespace, model: Model) -> Request:
    return Request(
        model=model.name,
        system_prompt=model.chat.system_prompt,
        stop_token_ids=model.chat.stop_token_ids,
        fewshot=len(problems.examples()) // 2 if options.fewshot else 0,
        max_tokens=options.max_tokens,
    )


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
    parser.add_argument("--max-tokens", type=at_least_one, default=512)
    parser.add_argument("--at-once", type=at_least_one, help="default: the model's batch")
    parser.add_argument("--out", type=Path, default=Path("var/report/accuracy"))
    return parser


if __name__ == "__main__":
    sys.exit(run_command(lambda: main(sys.argv[1:], os.environ)))
