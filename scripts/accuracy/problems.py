"""The problems: GSM8K, fetched once and held against its hash, and our own."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import requests
import yaml

from bundle.errors import CouldNotRun, Problem
from bundle.model import Strict
from scripts.accuracy.numbers import strict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_HERE = Path(__file__).parent
# Where the command runs; in the smoke image the build can put it there.
CACHE = Path("var/gsm8k/test.jsonl")
_REMEDY = (
    "copy that file here from elsewhere and name it with --data, or use our own "
    "problems: `python -m scripts.accuracy own`"
)


class Source(Strict):
    """`gsm8k.yaml`: where the test set is, and what it must be."""

    url: str
    sha256: str
    size_bytes: int


@dataclass(frozen=True)
class WordProblem:
    """A question, and the number that answers it."""

    question: str
    answer: Fraction


@dataclass(frozen=True)
class DataSet:
    """Problems under the name that every output gives them."""

    name: str
    title: str
    sha256: str
    problems: tuple[WordProblem, ...]


def source() -> Source:
    """Read `gsm8k.yaml`."""
    return Source.model_validate(_yaml("gsm8k.yaml"))


def own() -> DataSet:
    """Give our own problems."""
    rows = _yaml("own-problems.yaml")["problems"]
    problems = (WordProblem(row["question"], Fraction(row["answer"])) for row in rows)
    digest = hashlib.sha256((_HERE / "own-problems.yaml").read_bytes()).hexdigest()
    title = f"{len(rows)} own-written problems (not GSM8K)"
    return DataSet("own-problems", title, digest, tuple(problems))


def gsm8k(data: Path | None, cache: Path = CACHE, known: Source | None = None) -> DataSet:
    """Give the test set from `data`, else from `cache`, else fetch it and keep it there.

    Raises:
        CouldNotRun: it cannot be had, or has another hash than the pinned one.
    """
    known = known or source()
    path = data or cache
    if data is None and not cache.exists():
        content = download(known)
        _keep(cache, content)
    else:
        content = _read(path)
    _check(content, known, str(path))
    rows = [json.loads(line) for line in content.splitlines()]
    return DataSet("gsm8k", "GSM8K test", known.sha256, tuple(map(_problem, rows)))


def download(known: Source) -> bytes:
    """Fetch the test set; raises `CouldNotRun` like `gsm8k`."""
    print(f"fetching {known.url}, {known.size_bytes / 1e6:.2f} MB", flush=True)
    try:
        answer = requests.get(known.url, timeout=60)
        answer.raise_for_status()
    except requests.RequestException as error:
        what = f"{known.url} cannot be fetched: {error}"
        raise CouldNotRun(Problem(what, _REMEDY)) from error
    _check(answer.content, known, known.url)
    return answer.content


def _keep(cache: Path, content: bytes) -> None:
    """Write the cache; a folder that takes no files only costs the next run a fetch."""
    partial = cache.with_suffix(".partial")
    try:
        cache.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(content)
        partial.replace(cache)
    except OSError as error:
        print(f"  not kept in {cache}: {error.strerror}", flush=True)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        what = f"{path} cannot be read: {error.strerror}"
        raise CouldNotRun(Problem(what, "name a copy of the test set")) from error


def examples() -> tuple[Mapping[str, str], ...]:
    """Give the solved problems for `--fewshot`, as messages."""
    rows: Sequence[Mapping[str, str]] = _yaml("examples.yaml")["examples"]
    return tuple(
        {"role": role, "content": row[key]}
        for row in rows
        for role, key in (("user", "question"), ("assistant", "answer"))
    )


def _check(content: bytes, known: Source, place: str) -> None:
    digest = hashlib.sha256(content).hexdigest()
    if digest != known.sha256:
        what = f"{place} has sha256 {digest}, not {known.sha256}"
        raise CouldNotRun(Problem(what, _REMEDY))


def _problem(row: Mapping[str, str]) -> WordProblem:
    answer = strict(row["answer"])
    if answer is None:
        raise ValueError(f"a problem without an answer: {row}")  # the hash forbids it
    return WordProblem(row["question"], answer)


def _yaml(name: str) -> Any:  # noqa: ANN401 - each file has its own form
    return yaml.safe_load((_HERE / name).read_text(encoding="utf-8"))
