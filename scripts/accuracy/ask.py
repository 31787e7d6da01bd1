"""Ask the problems that have no answer yet, several at once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import aiohttp

from bundle.api import ServerError
from bundle.errors import Problem
from scripts.accuracy.answers import Answer
from scripts.accuracy.problems import examples

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bundle.api import Server
    from scripts.accuracy.answers import AnswerFile, Request
    from scripts.accuracy.problems import WordProblem

_SECONDS = 1800  # an answer may wait in the server's queue for as long


@dataclass(frozen=True)
class Run:
    """The problems to ask of a server, how, and how many at once."""

    server: Server
    problems: Sequence[WordProblem]
    request: Request
    at_once: int


def body(problem: WordProblem, request: Request) -> dict[str, Any]:
    """Give the body for `/v1/chat/completions`: the question alone, no instruction.

    So the published score was made:
    https://github.com/QwenLM/Qwen/blob/main/eval/evaluate_chat_gsm8k.py
    """
    sampling = request.model_dump(exclude={"system_prompt", "fewshot"})
    messages = [
        {"role": "system", "content": request.system_prompt},
        *(examples() if request.fewshot else ()),
        {"role": "user", "content": problem.question},
    ]
    return {**sampling, "messages": messages}


def ask_all(run: Run, file: AnswerFile, show: Callable[[int, int], None]) -> None:
    """Ask what `file` has no answer to; `show` is told how many came of how many.

    Raises:
        ServerError: an answer could not be had; those before it are kept.
    """
    asyncio.run(_ask(run, file, show))


async def _ask(run: Run, file: AnswerFile, show: Callable[[int, int], None]) -> None:
    missing = [n for n in range(len(run.problems)) if n not in file.answers]
    left, done = iter(missing), 0

    async def work(session: aiohttp.ClientSession) -> None:
        nonlocal done
        for index in left:  # all workers take from the same iterator
            asked = body(run.problems[index], run.request)
            told = await _send(session, run.server.url, asked)
            file.add(Answer(index=index, **told))
            done += 1
            show(done, len(missing))

    timeout = aiohttp.ClientTimeout(total=_SECONDS, sock_connect=60)
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(
        headers=run.server.headers, timeout=timeout, connector=connector
    ) as session:
        workers = [asyncio.ensure_future(work(session)) for _ in range(run.at_once)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()


async def _send(
    session: aiohttp.ClientSession, server: str, asked: dict[str, Any]
) -> dict[str, Any]:
    url = f"{server}/v1/chat/completions"
    try:
        async with session.post(url, json=asked) as answer:
            if answer.status != HTTPStatus.OK:
                raise _broken(f"{url} answered {answer.status}: {await answer.text()}")
            told = await answer.json()
            choice = told["choices"][0]
            return {
                "text": choice["message"]["content"] or "",
                "finish_reason": choice["finish_reason"],
                "completion_tokens": told["usage"]["completion_tokens"],
            }
    except (aiohttp.ClientError, asyncio.TimeoutError, OSError) as error:
        raise _broken(
            f"{url} does not answer: {error or type(error).__name__}"
        ) from error
    except (ValueError, LookupError, TypeError) as error:
        raise _broken(f"{url} gives no OpenAI answer") from error


def _broken(what: str) -> ServerError:
    remedy = "read the server's log, then run the same again: it goes on from here"
    return ServerError(Problem(what[:300], remedy))
