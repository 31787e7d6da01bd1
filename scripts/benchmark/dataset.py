"""Chats from a file: a JSON object with `messages` a line, as OpenAI's API takes them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bundle.errors import Problem, WrongUsage, raise_all

if TYPE_CHECKING:
    from pathlib import Path

    from bundle.api import Message

_SHOWN = 20  # wrong lines; of a whole file of another form these tell enough
_FORM = '{"messages": [{"role": "user", "content": "…"}]}'


def read(path: Path) -> tuple[tuple[Message, ...], ...]:
    """Read the chats of a file; what the assistant says last is what a run asks for.

    Raises:
        WrongUsage: it cannot be read, has no chat, or lines of another form.
    """
    try:
        # Not `splitlines`: JSON may hold other ends of lines, as U+2028, as they are.
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        what = f"{path} cannot be read: {error}"
        raise WrongUsage(Problem(what, "name a JSONL file of chats")) from error
    chats = {number: _chat(line) for number, line in enumerate(lines, 1) if line.strip()}
    wrong = [number for number, chat in chats.items() if not chat]
    raise_all(
        WrongUsage,
        (
            Problem(f"{path}:{number} is no chat", f"write {_FORM}")
            for number in wrong[:_SHOWN]
        ),
    )
    if not chats:
        raise WrongUsage(Problem(f"{path} has no chat", f"write lines like {_FORM}"))
    return tuple(chats.values())


def _chat(line: str) -> tuple[Message, ...]:
    """Give the messages up to the last of the user's; none if it is no chat."""
    try:
        messages = json.loads(line)["messages"]
        roles = [message["role"] for message in messages]
        told = all(
            isinstance(m[key], str) for m in messages for key in ("role", "content")
        )
        last = len(roles) - roles[::-1].index("user")
    except (ValueError, KeyError, TypeError, RecursionError):
        return ()
    return tuple(messages[:last]) if told else ()
