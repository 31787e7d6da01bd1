"""What a server answers at temperature 0, with token ids and their log-probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import ValidationError, model_validator

from bundle.api import ServerError
from bundle.errors import CouldNotRun, Problem
from bundle.model import Question, Strict
from scripts.grade import Verdict, grade

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from bundle.api import Server

MAX_TOKENS = 128
_TOP = 5  # alternatives at each position

# Token ids and natural log-probabilities, the likeliest first, the chosen one among them.
Position = tuple[tuple[int, float], ...]


class Reply(Strict):
    """One answer; `positions` has an entry per token of `ids`, the end token included."""

    question: Question
    text: str
    finish_reason: str
    prompt_ids: tuple[int, ...]
    ids: tuple[int, ...]
    positions: tuple[Position, ...]
    verdict: Verdict

    @model_validator(mode="after")
    def _each_token_is_in_its_position(self) -> Reply:
        pairs = zip(self.ids, self.positions, strict=True)
        if not all(chosen in dict(position) for chosen, position in pairs):
            raise ValueError("a token without its log-probability")
        return self

    @property
    def greedy(self) -> bool:
        """Whether each token is the likeliest one, as temperature 0 means."""
        return all(
            dict(position)[chosen] >= max(value for _, value in position)
            for chosen, position in zip(self.ids, self.positions, strict=True)
        )


class Recording(Strict):
    """A server's answers; `--record` writes it, `--recorded` compares with it."""

    version: Literal[1] = 1
    model: str
    server: str
    engine: str | None
    max_tokens: int
    replies: tuple[Reply, ...]


def record(
    server: Server,
    model: str,
    questions: Sequence[Question],
    show: Callable[[int, int], None],
    max_tokens: int = MAX_TOKENS,
) -> Recording:
    """Ask one question at a time, since batches change the rounding.

    Raises:
        ServerError: no answer, or one without token ids and log-probabilities.
    """
    replies = []
    for question in questions:
        replies.append(_reply(server, body(model, question, max_tokens), question))
        show(len(replies), len(questions))
    return Recording(
        model=model,
        server=server.url,
        engine=server.version(),
        max_tokens=max_tokens,
        replies=tuple(replies),
    )


def body(model: str, question: Question, max_tokens: int) -> dict[str, Any]:
    """Give the request. System prompt and stop tokens are what is examined: not sent.

    The penalty is switched off, so that the likeliest token must be the chosen one.
    """
    return {
        "model": model,
        "messages": [{"role": "user", "content": question.ask}],
        "max_tokens": max_tokens,
        "temperature": 0,
        "top_p": 1,
        "top_k": -1,
        "repetition_penalty": 1.0,
        "logprobs": True,
        "top_logprobs": _TOP,
        "return_token_ids": True,
        "return_tokens_as_token_ids": True,
    }


def read(path: Path, model: str) -> Recording:
    """Read a recording of `model`; raises `CouldNotRun` if it is none."""
    remedy = "make it with --record on the reference server"
    try:
        found = Recording.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        what = f"{path} is no recording: {str(error).splitlines()[0]}"
        raise CouldNotRun(Problem(what, remedy)) from error
    if not found.replies:
        raise CouldNotRun(Problem(f"{path} holds no answers", remedy))
    if found.model != model:
        what = f"{path} was recorded of {found.model}, not of {model}"
        raise CouldNotRun(Problem(what, remedy))
    return found


def _reply(server: Server, asked: dict[str, Any], question: Question) -> Reply:
    told = server.post("/v1/chat/completions", asked)
    try:
        choice = told["choices"][0]
        text, finish = choice["message"]["content"] or "", choice["finish_reason"]
        return Reply(
            question=question,
            text=text,
            finish_reason=finish,
            prompt_ids=told["prompt_token_ids"],
            ids=choice["token_ids"],
            positions=tuple(map(_position, choice["logprobs"]["content"])),
            verdict=grade(text, question, cut=finish == "length"),
        )
    except (LookupError, TypeError, ValueError) as error:
        what = f"{server.url} gives no token ids with log-probabilities"
        raise ServerError(Problem(what, "serve with vLLM 0.23 or later")) from error


def _position(content: dict[str, Any]) -> Position:
    every = [content, *content["top_logprobs"]]
    values = {_id(one["token"]): float(one["logprob"]) for one in every}
    return tuple(sorted(values.items(), key=lambda item: -item[1]))


def _id(token: str) -> int:
    """Read vLLM's `token_id:123`."""
    return int(token.removeprefix("token_id:"))
