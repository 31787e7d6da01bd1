"""What a conversion was made from: sha256 of the inputs, and their own source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bundle import manifest
from bundle.errors import CouldNotRun, Problem
from scripts.weights.source import INDEX
from scripts.weights.tokenizer import VOCABULARY

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_CONFIGS = ("config.json", "generation_config.json", VOCABULARY, INDEX)
_LICENCES = ("LICENSE*", "NOTICE*")


def licences(folder: Path) -> list[Path]:
    """Give the licence files, which travel with the weights."""
    paths = [path for pattern in _LICENCES for path in sorted(folder.glob(pattern))]
    return [path for path in paths if path.is_file()]


def digests(folder: Path) -> dict[str, str]:
    """Give the hex sha256 of every input but the weights themselves, by name."""
    names = [*_CONFIGS, *(path.name for path in licences(folder))]
    present = [name for name in names if (folder / name).is_file()]
    return {name: manifest.sha256(folder / name) for name in present}


def origin(source: Path, inputs: Mapping[str, str]) -> dict[str, str]:
    """Say where `source` comes from, and that its files are what its manifest says.

    Raises:
        CouldNotRun: a file that was read has another sha256 than in the manifest.
    """
    known = manifest.read(source)
    if isinstance(known, Problem):  # a folder that was not fetched by this bundle
        return {"folder": source.resolve().name}
    for name, digest in inputs.items():
        if name in known.files and known.files[name].sha256 != digest:
            what = f"{source / name} has sha256 {digest}, not what its manifest says"
            raise CouldNotRun(Problem(what, manifest.REMEDY))
    return known.source
