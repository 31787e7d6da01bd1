"""The native tokenizer against tiktoken: encode, decode and stream, all equal.

The two sides' tables of Unicode differ for 99 combining marks (`disputed`): tiktoken's
text goes through Python's `unicodedata` (14.0 in Python 3.11), the native one through
the crate behind `tokenizers`, whose tables are of Unicode 9. Text that is in NFC, as
nearly all text is, passes both unchanged and so is equal with these marks too.
"""

from __future__ import annotations

import json
import subprocess
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from scripts.weights.convert import convert
from tests.fixtures.engine import ENGINE, TRANSFORMERS_4
from tests.fixtures.qwen1 import REAL_RANKS, Small, make

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
# The published vocabulary, for whoever has it; the tests make a small one.
PUBLISHED = ROOT.parent / "shared/data/qwen.tiktoken"
PLACES = ("bundle", "entrypoint", "scripts", "monitoring", "models", "docs", "tests")
SUFFIXES = {".py", ".md", ".yaml", ".jinja", ".toml", ".json", ".txt"}
RANDOM = 20_000

pytestmark = pytest.mark.skipif(
    not ENGINE.exists(), reason=f"no engine: {ENGINE} is not there, run make process"
)


@pytest.fixture(scope="module", params=["made", "published"])
def folder(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Give the folder that holds a checkpoint and its native form."""
    place = tmp_path_factory.mktemp(request.param)
    if request.param == "made":
        make(place / "original", Small())
    elif PUBLISHED.exists():
        make(place / "original", Small(ranks=REAL_RANKS))
        (place / "original/qwen.tiktoken").write_bytes(PUBLISHED.read_bytes())
    else:
        pytest.skip(f"the published vocabulary is not there: {PUBLISHED}")
    convert(place / "original", place / "native", None, str(ENGINE))
    return place


@pytest.fixture(scope="module")
def compared(folder: Path) -> dict[str, Any]:
    """Compare in the engine's Python, whose tokenizers is the one that serves."""
    return compare(ENGINE, folder, RANDOM, places=2)


def compare(python: Path, folder: Path, count: int, *, places: int) -> dict[str, Any]:
    """Run `compare_tokens.py`."""
    script = ROOT / "tests/fixtures/compare_tokens.py"
    words: list[str | Path] = [folder / "native", folder / "original/qwen.tiktoken"]
    done = subprocess.run(
        [python, script, *words, str(count), str(places), *documents()],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, Any] = json.loads(done.stdout)
    sizes = {k: (v["texts"], v["tokens"]) for k, v in found.items() if type(v) is dict}
    print(f"transformers {found['transformers']}, texts and tokens: {sizes}")
    return found


def documents() -> Iterator[Path]:
    """Give this repository's own texts."""
    for name in PLACES:
        paths = (ROOT / name).rglob("*")
        yield from sorted(p for p in paths if p.suffix in SUFFIXES and p.is_file())


@pytest.mark.parametrize("group", ["documents", "points", "random", "broken"])
def test_tokens_and_text_are_equal(compared: dict[str, Any], group: str) -> None:
    assert compared[group]["different"] == []
    assert compared[group]["tokens"] > 100_000


def test_loading_warns_of_nothing_and_keeps_the_file_as_it_is(
    compared: dict[str, Any],
) -> None:
    assert compared["warned"] == []
    assert compared["same"]


def test_only_combining_marks_of_late_unicode_are_disputed(
    compared: dict[str, Any],
) -> None:
    marks = [chr(int(number, 16)) for number in compared["disputed"]]

    assert 0 < len(marks) < 150  # 99 with Python 3.11; a later Python knows more
    # U+11930 is a vowel sign that only became part of a composed letter.
    assert [m for m in marks if not unicodedata.category(m).startswith("M")] == []


def test_transformers_4_reads_the_folder_alike(folder: Path) -> None:
    if not TRANSFORMERS_4.exists():
        pytest.skip(f"{TRANSFORMERS_4} is not there; make it with transformers==4.57.6")

    found = compare(TRANSFORMERS_4, folder, 1_000, places=0)

    assert found["transformers"].startswith("4.57")
    assert found["warned"] == []
    assert found["same"]
    for group in ("documents", "random", "broken"):
        assert found[group]["different"] == []
