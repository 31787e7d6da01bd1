"""A folder appears complete or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bundle.errors import CouldNotRun
from scripts.weights.atomic import new_folder

if TYPE_CHECKING:
    from pathlib import Path


def break_off(target: Path, error: BaseException, *, keep: bool = False) -> None:
    """Begin a folder with one file in it, and fail."""
    with new_folder(target, keep=keep) as partial:
        (partial / "half").touch()
        raise error


def test_a_good_end_puts_the_folder_in_place(tmp_path: Path) -> None:
    with new_folder(tmp_path / "a/b") as partial:
        (partial / "f").write_text("new")
        assert not (tmp_path / "a/b").exists()

    assert (tmp_path / "a/b/f").read_text() == "new"
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]


def test_an_existing_folder_is_replaced_whole(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b/old").touch()

    with new_folder(tmp_path / "b") as partial:
        (partial / "new").touch()

    assert [path.name for path in (tmp_path / "b").iterdir()] == ["new"]


def test_a_failure_leaves_the_old_folder_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()

    with pytest.raises(KeyboardInterrupt):
        break_off(tmp_path / "b", KeyboardInterrupt())

    assert [path.name for path in tmp_path.iterdir()] == ["b"]
    assert list((tmp_path / "b").iterdir()) == []


def test_what_a_killed_run_left_is_cleared(tmp_path: Path) -> None:
    (tmp_path / ".b.partial").mkdir()
    (tmp_path / ".b.partial/junk").touch()

    with new_folder(tmp_path / "b") as partial:
        (partial / "f").touch()

    assert [path.name for path in (tmp_path / "b").iterdir()] == ["f"]


def test_a_download_is_kept_for_the_next_run(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="broke"):
        break_off(tmp_path / "b", OSError("broke"), keep=True)

    with new_folder(tmp_path / "b", keep=True) as partial:
        assert (partial / "half").exists()


def test_two_at_once_are_refused_and_the_first_ends_whole(tmp_path: Path) -> None:
    with new_folder(tmp_path / "b") as partial:
        (partial / "f").touch()
        with pytest.raises(CouldNotRun, match="another process writes"):
            break_off(tmp_path / "b", OSError("never reached"))
        with new_folder(tmp_path / "c") as other:
            (other / "f").touch()

    assert [path.name for path in (tmp_path / "b").iterdir()] == ["f"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "c"]


def test_the_lock_of_a_killed_run_keeps_nobody_away(tmp_path: Path) -> None:
    (tmp_path / ".b.lock").touch()

    with new_folder(tmp_path / "b") as partial:
        (partial / "f").touch()

    assert [path.name for path in tmp_path.iterdir()] == ["b"]
