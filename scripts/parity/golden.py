"""The reference, recorded once: checking a deployment then takes minutes, not hours."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bundle.errors import CouldNotRun, Problem
from bundle.model import Dtype, Strict
from scripts.parity import metrics
from scripts.parity.result import Figures
from scripts.parity.score import Top

if TYPE_CHECKING:
    from pathlib import Path

    from scripts.parity.metrics import Array
    from scripts.parity.texts import Passages

_NAME = re.compile(r"golden-([0-9a-f]{16})\.npz")
# What numpy raises at a file that is cut, empty or of another kind.
_BROKEN = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    EOFError,
    zipfile.BadZipFile,
    zlib.error,
)
_AGAIN = "record it again with `python -m scripts.parity record`"


class About(Strict):
    """What a golden file is of; `floor` is that of `dtype` against the file itself."""

    weights_sha256: str
    dtype: Dtype
    versions: dict[str, str]
    floor: Figures


@dataclass(frozen=True)
class Golden:
    """Passages, and of every position the top and the state after the last norm."""

    about: About
    passages: Passages
    top: Top
    states: Array


def save(golden: Golden, folder: Path) -> Path:
    """Write `golden-<hash>.npz`, the hash being that of its bytes."""
    stream = io.BytesIO()
    np.savez_compressed(
        stream,
        about=np.frombuffer(golden.about.model_dump_json().encode(), np.uint8),
        ids=np.concatenate([np.array(p, np.int32) for p in golden.passages]),
        lengths=np.array([len(p) for p in golden.passages], np.int32),
        top_ids=golden.top.ids.astype(np.int32),
        top_logs=golden.top.logs[:, :-1].astype(np.float32),
        tail_mass=np.exp(golden.top.logs[:, -1]),
        losses=golden.top.losses,
        states=golden.states.astype(np.float16),
    )
    data = stream.getvalue()
    path = folder / f"golden-{hashlib.sha256(data).hexdigest()[:16]}.npz"
    path.write_bytes(data)
    return path


def read(path: Path, weights_sha256: str) -> Golden:
    """Read a golden file made of the weights with this manifest.

    Raises:
        CouldNotRun: it cannot be read, is not what its name says, or is of others.
    """
    try:
        data = path.read_bytes()
        name = _NAME.fullmatch(path.name)
        if name and hashlib.sha256(data).hexdigest()[:16] != name[1]:
            raise CouldNotRun(Problem(f"{path} is not what its name says", _AGAIN))
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            about = About.model_validate(json.loads(bytes(file["about"])))
            arrays = {name: file[name] for name in file.files if name != "about"}
        if about.weights_sha256 != weights_sha256:
            what = f"{path} is of other weights: {about.weights_sha256[:16]}…"
            raise CouldNotRun(Problem(f"{what}, not {weights_sha256[:16]}…", _AGAIN))
        return _golden(about, arrays)
    except _BROKEN as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise CouldNotRun(Problem(f"{path} cannot be read: {reason}", _AGAIN)) from error


def _golden(about: About, arrays: dict[str, np.ndarray]) -> Golden:
    ends = np.cumsum(arrays["lengths"])[:-1]
    with np.errstate(divide="ignore"):
        tail = np.log(arrays["tail_mass"])[:, None]
    logs = np.concatenate([arrays["top_logs"].astype(np.float64), tail], axis=1)
    return Golden(
        about=about,
        passages=tuple(tuple(p.tolist()) for p in np.split(arrays["ids"], ends)),
        top=Top(
            arrays["top_ids"].astype(np.int64),
            metrics.renormalise(logs, "golden file"),
            arrays["losses"],
        ),
        states=arrays["states"].astype(np.float64),
    )
