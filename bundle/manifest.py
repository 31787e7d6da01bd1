"""The manifest of a weights folder: what it was made from, and each file's sha256."""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bundle.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MANIFEST = "manifest.json"
REMEDY = "run `make weights`, which fetches it again"

_Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class File(BaseModel):
    """One file: its sha256 and its size in bytes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sha256: _Sha256
    bytes: int = Field(ge=0)


class Manifest(BaseModel):
    """What is in a folder, what made it, and from what."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool: str
    source: dict[str, str]
    inputs: dict[str, _Sha256]
    files: dict[str, File] = Field(min_length=1)


def write(
    folder: Path,
    source: Mapping[str, str],
    inputs: Mapping[str, str] | None = None,
    known: Mapping[str, str] | None = None,
) -> None:
    """Write the manifest of all files below `folder`.

    Args:
        folder: what the manifest is of.
        source: where it comes from, such as hub, id and revision.
        inputs: sha256 of each file that it was made from, by name.
        known: sha256 of files of the folder that were computed already.
    """
    known = known or {}
    files = {
        name: File(
            sha256=known.get(name) or sha256(folder / name),
            bytes=(folder / name).stat().st_size,
        )
        for name in _names(folder)
    }
    manifest = Manifest(
        tool=_tool(), source=dict(source), inputs=dict(inputs or {}), files=files
    )
    text = manifest.model_dump_json(indent=2) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")


def read(folder: Path) -> Manifest | Problem:
    """Give the manifest of `folder`, or what is wrong with it."""
    path = folder / MANIFEST
    if not folder.is_dir():
        return Problem(f"there is no weights folder {folder}", REMEDY)
    try:
        return Manifest.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return Problem(f"{folder} has no {MANIFEST}, so it is not complete", REMEDY)
    except (OSError, ValueError, ValidationError) as error:
        reason = str(error).splitlines()[0]
        return Problem(f"{path} is broken: {reason}", REMEDY)


def check(folder: Path, *, hashes: bool) -> list[Problem]:
    """Compare `folder` with its manifest: sizes always, sha256 if `hashes`."""
    manifest = read(folder)
    if isinstance(manifest, Problem):
        return [manifest]
    return [
        Problem(found, REMEDY)
        for name, file in manifest.files.items()
        for found in _differences(folder, name, file, hashes=hashes)
    ]


def sha256(path: Path) -> str:
    """Hex sha256 of a file, read in pieces."""
    with path.open("rb") as file:
        digest = hashlib.sha256()
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def _differences(folder: Path, name: str, file: File, *, hashes: bool) -> Iterator[str]:
    if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
        yield f"{folder / MANIFEST} names {name!r}, which is outside its folder"
        return
    path = folder / name
    if not path.is_file():
        yield f"{path} is missing"
    elif (size := path.stat().st_size) != file.bytes:
        yield f"{path} has {size} bytes, its manifest says {file.bytes}"
    elif hashes and (digest := sha256(path)) != file.sha256:
        yield f"{path} has sha256 {digest}, its manifest says {file.sha256}"


def _names(folder: Path) -> list[str]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    names = sorted(path.relative_to(folder).as_posix() for path in paths)
    return [name for name in names if name != MANIFEST]


def _tool() -> str:
    try:
        return f"ascend-chat-bundle {version('ascend-chat-bundle')}"
    except PackageNotFoundError:  # run from the repository, not installed
        return "ascend-chat-bundle"
