"""One archive that a person far away can help with, without a secret in it."""

from __future__ import annotations

import io
import json
import tarfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import requests

from bundle.errors import CouldNotRun, Problem
from bundle.settings import EXPORTER_PORT, variables
from scripts.doctor.redact import redactor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bundle.checks.start import Start

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


def write(path: Path, start: Start, report: str, server_url: str) -> None:
    """Write report, settings, logs, versions, metrics and npu-smi's text to `path`.

    Raises:
        CouldNotRun: the archive cannot be written.
    """
    redact = redactor(start.environ, _secrets(start))
    files = {"doctor.json": report, **dict(_texts(start, server_url))}
    try:
        with tarfile.open(path, "w:gz") as tar:
            for name, text in files.items():
                _add(tar, name, redact(text).encode(errors="replace"))
    except OSError as error:
        what = f"{path} cannot be written: {error.strerror}"
        raise CouldNotRun(Problem(what, "name a file in a folder of yours")) from error


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(f"support/{name}")
    info.size, info.mtime = len(content), int(time.time())
    tar.addfile(info, io.BytesIO(content))


def _texts(start: Start, server_url: str) -> Iterator[tuple[str, str]]:
    yield "environment.json", json.dumps(_environment(start.environ), indent=2)
    yield "packages.json", json.dumps(start.packages, indent=2)
    yield "npu-smi.txt", _said(start)
    yield "server-metrics.txt", _page(f"{server_url}/metrics")
    yield "exporter-metrics.txt", _page(f"http://127.0.0.1:{EXPORTER_PORT}/metrics")
    for path in (*LOGS, *sorted(start.settings.run_dir.rglob("*.json"))):
        if path.is_file():
            yield path.name, _tail(path)


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Give our settings and what an engine reads; all else is nobody's business."""
    ours = set(variables())
    return {
        name: value
        for name, value in sorted(environ.items())
        if name in ours or name.startswith(ENGINE_PREFIXES)
    }


def _secrets(start: Start) -> list[str]:
    key = start.settings.api_key
    return [key.get_secret_value()] if key else []


def _said(start: Start) -> str:
    try:
        return start.run(["npu-smi", "info"])
    except OSError as error:
        return f"npu-smi does not run: {error}"


def _page(url: str) -> str:
    try:
        return requests.get(url, timeout=3).text
    except requests.RequestException as error:
        return f"{url} did not answer: {type(error).__name__}"


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - TAIL_BYTES))
        return file.read().decode(errors="replace")
