"""One measurement: ask, go on with what is there, score."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scripts.accuracy.answers import AnswerFile, Request, Settings
from scripts.accuracy.ask import Run, ask_all
from scripts.accuracy.problems import examples
from scripts.accuracy.result import Accuracy, accuracy
from scripts.progress import progress

if TYPE_CHECKING:
    from pathlib import Path

    from bundle.model import Model
    from scripts.accuracy.problems import DataSet

MAX_TOKENS = 512  # fewer would cut right answers


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


def request_to(
    model: Model, max_tokens: int = MAX_TOKENS, *, fewshot: bool = False
) -> Request:
    """Give the request that leaves nothing to what the server's folder may set."""
    return Request(
        model=model.name,
        system_prompt=model.chat.system_prompt,
        stop_token_ids=model.chat.stop_token_ids,
        fewshot=len(examples()) // 2 if fewshot else 0,
        max_tokens=max_tokens,
    )


def most_at_once(model: Model) -> int:
    """Give the largest batch of any device: what a smaller one cannot take, it queues."""
    return max(serving.max_num_seqs for serving in model.serving.values())
