"""One archive that a person far away can help with, without a secret in it."""

from __future__ import annotations

import io
import json
import os
import tarfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import requests

from bundle.checks.start import Start
from bundle.errors import CouldNotRun, Problem
from bundle.settings import EXPORTER_PORT, variables
from scripts.doctor.redact import HIDDEN, is_secret, redactor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import BinaryIO

    from bundle.checks.world import World

ROOT = Path(__file__).resolve().parents[2]
LOGS = (ROOT / "var/log/server.log", ROOT / "var/log/server.log.1")
TAIL_BYTES = 5_000_000
ENGINE_PREFIXES = (
    "VLLM_",
    "ASCEND_",
    "HCCL_",
    "ATB_",
    "PYTORCH_",
    "TORCH_",
    "LD_",
    "NPU_",
)


@contextmanager
def created(path: Path) -> Iterator[BinaryIO]:
    """Give a new file at `path` that nobody else may read; if the work fails, none.

    Raises:
        CouldNotRun: something is there already, if only a link, or nothing can be.
    """
    try:
        # "x" follows no link.
        file = open(path, "xb", opener=_for_us_alone)  # noqa: SIM115 - Path.open has no opener
    except FileExistsError as error:
        what = f"{path} is there already"
        raise CouldNotRun(Problem(what, "name a new file, or remove that one")) from error
    except (OSError, ValueError) as error:
        raise _not_written(path, error) from error
    try:
        with file:
            yield file
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _not_written(path, error) from error
        raise


def _for_us_alone(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _not_written(path: Path, error: Exception) -> CouldNotRun:
    what = f"{path} cannot be written: {getattr(error, 'strerror', None) or error}"
    return CouldNotRun(Problem(what, "name a file in a folder of yours"))


def write(file: BinaryIO, world: World, report: str) -> None:
    """Write report, settings, logs, versions, metrics and npu-smi's text to `file`.

    Without good settings the world is no `Start`, and what needs them is left out.
    """
    redact = redactor(world.environ, _secrets(world))
    with tarfile.open(fileobj=file, mode="w:gz") as tar:
        for name, text in (("doctor.json", report), *_texts(world)):
            _add(tar, name, redact(text).encode(errors="replace"))


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(f"support/{name}")
    info.size, info.mtime = len(content), int(time.time())
    tar.addfile(info, io.BytesIO(content))


def _texts(world: World) -> Iterator[tuple[str, str]]:
    yield "environment.json", json.dumps(_environment(world.environ), indent=2)
    yield "npu-smi.txt", _said(world)
    yield "exporter-metrics.txt", _page(f"http://127.0.0.1:{EXPORTER_PORT}/metrics")
    notes: list[Path] = []
    if isinstance(world, Start):
        yield "packages.json", json.dumps(world.packages, indent=2)
        yield "server-metrics.txt", _page(f"{world.settings.server_url}/metrics")
        notes = sorted(world.settings.run_dir.rglob("*.json"))
    for path in (*LOGS, *notes):
        if path.is_file():
            yield path.name, _tail(path)


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Give our settings and what an engine reads; all else is nobody's business."""
    ours = set(variables())
    return {
        name: HIDDEN if is_secret(name) else value
        for name, value in sorted(environ.items())
        if name in ours or name.startswith(ENGINE_PREFIXES)
    }


def _secrets(world: World) -> list[str]:
    """Give what lies in files that variables such as BUNDLE_API_KEY_FILE name."""
    named = [value for name, value in world.environ.items() if is_secret(name)]
    files = [path for path in named if world.path(path).is_file()]
    found = [world.text(path).strip() for path in files]
    key = world.settings.api_key if isinstance(world, Start) else None
    return [*found, *([key.get_secret_value()] if key else [])]


def _said(world: World) -> str:
    try:
        return world.run(["npu-smi", "info"])
    except OSError as error:
        return f"npu-smi does not run: {error}"


def _page(url: str) -> str:
    try:
        return requests.get(url, timeout=3).text
    except (requests.RequestException, ValueError) as error:  # ValueError: of urllib3
        return f"{url} did not answer: {type(error).__name__}"


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - TAIL_BYTES))
        return file.read().decode(errors="replace")
