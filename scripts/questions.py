"""`python -m scripts.questions`: ask the model's questions, grade, keep every answer."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

from bundle import api
from bundle.errors import ExitCode, run_command
from bundle.model import Question, Strict, load_model, load_questions
from bundle.settings import load
from scripts.commandline import Parser
from scripts.grade import Verdict, grade
from scripts.progress import progress
from scripts.statistics import Interval, wilson
from scripts.target import require_model

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bundle.api import Server

MAX_TOKENS = 256  # several times what any of these questions needs


class Answer(Strict):
    """One question, what came back, and how it was graded."""

    question: Question
    text: str
    finish_reason: str
    completion_tokens: int
    seconds: float
    verdict: Verdict


class Share(Strict):
    """Right answers of all asked, with the 95% Wilson interval of their share.

    `truncated` answers ended at the token limit: not wrong, and not right either.
    """

    right: int
    truncated: int
    asked: int
    share: float
    interval: Interval


class Score(Share):
    """All answers, and the share of the right ones in each language."""

    languages: dict[str, Share]
    answers: tuple[Answer, ...]


def ask_all(
    server: Server,
    model: str,
    questions: Sequence[Question],
    show: Callable[[int, int], None],
) -> Score:
    """Ask one question at a time; raises `ServerError` when the server gives none.

    A request holds only what any client would send. System prompt and stop tokens are
    the deployment's duty: to send them here would hide that they are missing.
    """
    answers = []
    for question in questions:
        answers.append(_ask(server, model, question))
        show(len(answers), len(questions))
    return score(answers)


def score(answers: Sequence[Answer]) -> Score:
    """Count the right answers; there must be at least one answer."""
    by_language: dict[str, list[Answer]] = {}
    for answer in answers:
        by_language.setdefault(answer.question.language, []).append(answer)
    return Score(
        **_count(answers),
        languages={name: Share(**_count(some)) for name, some in by_language.items()},
        answers=tuple(answers),
    )


def _count(answers: Sequence[Answer]) -> dict[str, Any]:
    verdicts = [answer.verdict for answer in answers]
    right, asked = verdicts.count("right"), len(verdicts)
    return {
        "right": right,
        "truncated": verdicts.count("truncated"),
        "asked": asked,
        "share": right / asked,
        "interval": wilson(right, asked),
    }


def _ask(server: Server, model: str, question: Question) -> Answer:
    started = time.monotonic()
    messages = [{"role": "user", "content": question.ask}]
    reply = server.chat(model, messages, temperature=0, max_tokens=MAX_TOKENS)
    return Answer(
        question=question,
        text=reply.text,
        finish_reason=reply.finish_reason,
        completion_tokens=reply.completion_tokens,
        seconds=time.monotonic() - started,
        verdict=grade(reply.text, question, cut=reply.finish_reason == "length"),
    )


def line(answer: Answer) -> str:
    """One line for the terminal: verdict, question, and the answer's beginning."""
    text = " ".join(answer.text.split())
    return f"  {answer.verdict:<9}  {answer.question.ask}  {text[:80]}"


def summary(result: Share) -> str:
    """Give k of n, its share, the interval, and how many answers were cut."""
    low, high = result.interval.low or 0, result.interval.high or 0
    text = (
        f"{result.right} of {result.asked} right = {result.share:.1%} "
        f"(95% interval {low:.1%} to {high:.1%})"
    )
    if not result.truncated:
        return text
    return f"{text}; {result.truncated} cut at {MAX_TOKENS} tokens: does the model stop?"


def main(words: Sequence[str], environ: Mapping[str, str]) -> int:
    """Ask the questions of the model that the settings name."""
    options = _parser().parse_args(words)
    settings = load(environ)
    model = load_model(settings.models_dir, settings.model)
    questions = load_questions(settings.models_dir, settings.model)
    server = api.server(settings)
    require_model(server, model.name)
    asked = questions.quick if options.quick else questions.every
    result = ask_all(server, model.name, asked, progress("questions"))
    print("\n".join([*map(line, result.answers), *_summaries(result)]))
    passed = result.share >= model.thresholds.questions_right_share
    return ExitCode.GOOD if passed else ExitCode.CHECK_FAILED


def _summaries(result: Score) -> list[str]:
    parts = [f"{name}: {summary(share)}" for name, share in result.languages.items()]
    return [*parts, summary(result)] if len(parts) > 1 else [summary(result)]


def _parser() -> Parser:
    parser = Parser("python -m scripts.questions", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only the quick suite's")
    return parser


if __name__ == "__main__":
    sys.exit(run_command(lambda: main(sys.argv[1:], os.environ)))
