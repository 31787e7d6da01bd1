"""Chats from a file, and what is wrong with a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from bundle.errors import WrongUsage
from scripts.benchmark.dataset import read

if TYPE_CHECKING:
    from pathlib import Path

USER = {"role": "user", "content": "你好"}
ANSWER = {"role": "assistant", "content": "Hello"}


def _file(folder: Path, *lines: object) -> Path:
    path = folder / "chats.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


def test_a_chat_ends_with_what_the_user_said_last(tmp_path: Path) -> None:
    path = _file(tmp_path, {"messages": [USER, ANSWER, USER, ANSWER], "id": 1})

    assert read(path) == ((USER, ANSWER, USER),)


@pytest.mark.parametrize(
    "line",
    [
        [USER],
        {"messages": []},
        {"messages": [ANSWER]},
        {"messages": [{}]},
        {"messages": [{**USER, "role": 1}, USER]},
        "x",
        1,
    ],
)
def test_every_line_of_another_form_is_named(line: object, tmp_path: Path) -> None:
    path = _file(tmp_path, {"messages": [USER]}, line, line)

    with pytest.raises(WrongUsage) as error:
        read(path)

    assert [one.what for one in error.value.problems] == [
        f"{path}:2 is no chat",
        f"{path}:3 is no chat",
    ]


def test_a_chat_may_hold_any_character_and_the_file_a_mark_of_its_encoding(
    tmp_path: Path,
) -> None:
    said = {"role": "user", "content": "a\u2028b\x85c"}
    line = json.dumps({"messages": [said]}, ensure_ascii=False)
    path = tmp_path / "chats.jsonl"
    path.write_text(f"{line}\r\n", encoding="utf-8-sig", newline="")

    assert read(path) == ((said,),)


def test_a_whole_file_of_another_form_is_told_shortly(tmp_path: Path) -> None:
    path = tmp_path / "chats.jsonl"
    path.write_text(("[" * 10_000 + "\n") * 100)

    with pytest.raises(WrongUsage) as error:
        read(path)

    assert len(error.value.problems) == 20


def test_a_missing_and_an_empty_file_are_wrong_usage(tmp_path: Path) -> None:
    for path in (tmp_path / "none", _file(tmp_path)):
        with pytest.raises(WrongUsage, match=r"cannot be read|has no chat"):
            read(path)
