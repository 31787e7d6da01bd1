"""A small JSON file that another process writes: there, absent or broken."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path  # noqa: TC003 - part of a public signature
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from bundle.errors import CouldNotRun, Problem

_Kind = TypeVar("_Kind", bound=BaseModel)


def read_note(path: Path, kind: type[_Kind]) -> _Kind | None:
    """Read `path`; None if it is not there.

    Raises:
        CouldNotRun: it cannot be read, or does not hold what it should.
    """
    try:
        return kind.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        what = f"{path} cannot be read: {error.strerror}"
        raise CouldNotRun(Problem(what, "let this user read that file")) from error
    except ValidationError as error:
        detail = error.errors()[0]
        where = ".".join(str(part) for part in detail["loc"]) or "the file"
        what = f"{path} is broken: {where}: {detail['msg']}"
        raise CouldNotRun(Problem(what, "see who writes it, and that file")) from error


def note_or_none(path: Path, kind: type[_Kind]) -> _Kind | None:
    """Read `path` where nothing fails for the lack of it: None if it is broken too."""
    with suppress(CouldNotRun):
        return read_note(path, kind)
    return None
