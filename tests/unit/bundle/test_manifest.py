"""The manifest finds every way in which a folder can differ from it."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest

from bundle import manifest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder with two files and its manifest."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "a").write_bytes(b"abc")
    (tmp_path / "sub/b").write_bytes(b"defg")
    manifest.write(tmp_path, {"id": "x"}, {"in": "0" * 64})
    return tmp_path


def found(folder: Path, *, hashes: bool = True) -> list[str]:
    """Give what is wrong, a sentence each."""
    return [problem.what for problem in manifest.check(folder, hashes=hashes)]


def test_it_tells_source_inputs_sizes_and_hashes(folder: Path) -> None:
    told = json.loads((folder / "manifest.json").read_text())

    assert told["source"] == {"id": "x"}
    assert told["inputs"] == {"in": "0" * 64}
    assert told["files"] == {
        "a": {"sha256": hashlib.sha256(b"abc").hexdigest(), "bytes": 3},
        "sub/b": {"sha256": hashlib.sha256(b"defg").hexdigest(), "bytes": 4},
    }


def test_an_untouched_folder_is_good(folder: Path) -> None:
    assert found(folder) == []


def test_a_changed_byte_is_found_by_its_hash_only(folder: Path) -> None:
    (folder / "a").write_bytes(b"abd")

    assert found(folder, hashes=False) == []
    assert f"{folder}/a has sha256" in found(folder)[0]


def test_a_truncated_file_is_found_without_hashing(folder: Path) -> None:
    (folder / "a").write_bytes(b"ab")

    assert found(folder, hashes=False) == [f"{folder}/a has 2 bytes, its manifest says 3"]


def test_missing_things_are_told_apart(folder: Path) -> None:
    (folder / "a").unlink()
    assert found(folder) == [f"{folder}/a is missing"]

    (folder / "manifest.json").unlink()
    assert "has no manifest.json" in found(folder)[0]

    assert "there is no weights folder" in found(folder / "none")[0]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"files": {}}', "\x00", '{"a": 1}'])
def test_a_broken_manifest_is_one_sentence(folder: Path, text: str) -> None:
    (folder / "manifest.json").write_text(text)

    (what,) = found(folder)
    assert "manifest.json is broken" in what


@pytest.mark.parametrize("name", ["/etc/passwd", "../a", "sub/../../a"])
def test_a_manifest_cannot_point_outside_its_folder(folder: Path, name: str) -> None:
    told = json.loads((folder / "manifest.json").read_text())
    told["files"] = {name: {"sha256": "0" * 64, "bytes": 1}}
    (folder / "manifest.json").write_text(json.dumps(told))

    assert "outside its folder" in found(folder)[0]
