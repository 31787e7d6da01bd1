"""Our own problems add up, and GSM8K is taken by its hash or not at all."""

from __future__ import annotations

import ast
import hashlib
import http.server
import threading
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

import scripts.accuracy
from bundle.errors import CouldNotRun
from scripts.accuracy.numbers import flexible
from scripts.accuracy.problems import Source, examples, gsm8k, own

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = Path(scripts.accuracy.__file__).parent / "own-problems.yaml"
ROW = b'{"question": "One and one?", "answer": "1 + 1 = 2\\n#### 2"}\n'


@pytest.mark.parametrize(
    "row", yaml.safe_load(FILE.read_text())["problems"], ids=lambda row: row["how"]
)
def test_the_sum_of_each_own_problem_gives_its_answer(row: dict[str, object]) -> None:
    tree = ast.parse(str(row["how"]), mode="eval")
    allowed = (ast.Expression, ast.BinOp, ast.Constant, ast.operator)

    assert all(isinstance(node, allowed) for node in ast.walk(tree))
    assert eval(compile(tree, "how", "eval")) == row["answer"]  # noqa: S307 - only sums


def test_there_are_fifty_own_problems_and_they_are_never_called_gsm8k() -> None:
    assert len(own().problems) == len({one.question for one in own().problems}) == 50
    assert own().name == "own-problems"
    assert "not GSM8K" in own().title


def test_each_example_says_its_answer_in_a_form_that_is_read() -> None:
    answers = [one["content"] for one in examples() if one["role"] == "assistant"]

    assert [flexible(answer) for answer in answers] == [21, 20, 12, 40]
    assert not {one["content"] for one in examples()} & {
        one.question for one in own().problems
    }


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve the files of `folder`; give the address."""
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join(10)


def test_it_is_fetched_once_and_then_read_from_the_cache(tmp_path: Path) -> None:
    (tmp_path / "test.jsonl").write_bytes(ROW)
    cache = tmp_path / "cache/test.jsonl"
    with served(tmp_path) as url:
        known = Source(
            url=f"{url}/test.jsonl", sha256=hashlib.sha256(ROW).hexdigest(), size_bytes=9
        )
        fetched = gsm8k(None, cache, known)

    assert fetched.problems[0].answer == Fraction(2)
    assert gsm8k(None, cache, known) == fetched


def test_another_file_is_refused_and_not_kept(tmp_path: Path) -> None:
    (tmp_path / "test.jsonl").write_bytes(ROW)
    with served(tmp_path) as url:
        known = Source(url=f"{url}/test.jsonl", sha256="0" * 64, size_bytes=9)
        with pytest.raises(CouldNotRun, match="has sha256"):
            gsm8k(None, tmp_path / "cache/test.jsonl", known)
        with pytest.raises(CouldNotRun, match="has sha256"):
            gsm8k(tmp_path / "test.jsonl", known=known)

    assert not (tmp_path / "cache/test.jsonl").exists()


def test_without_a_network_the_remedy_names_our_own_problems(tmp_path: Path) -> None:
    known = Source(url="http://127.0.0.1:9/x", sha256="0" * 64, size_bytes=9)

    with pytest.raises(CouldNotRun, match=r"python -m scripts\.accuracy own"):
        gsm8k(None, tmp_path / "test.jsonl", known)
