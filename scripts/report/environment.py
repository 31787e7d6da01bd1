"""Facts about server, machine, model and settings for the report."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from bundle import readings, served_by
from bundle.note import note_or_none
from bundle.readings import Readings
from bundle.served_by import ServedBy
from bundle.settings import variable
from scripts.report.form import (
    Environment,
    MachineFacts,
    ModelFacts,
    NpuFacts,
    ServerFacts,
)

if TYPE_CHECKING:
    from bundle.api import Server
    from bundle.model import Model
    from bundle.settings import Settings

_SECRET_FLAG = re.compile(r"(--[\w-]*(?:key|token|password|secret)[\w-]*[=\s]+)\S+")
_USER_IN_URL = re.compile(r"(https?://)[^/@\s]+@")


def environment(
    server: Server, settings: Settings, model: Model, served: list[str]
) -> Environment:
    """Gather all facts; `served` is what the server offers."""
    return Environment(
        served_by=_served_by(settings.run_dir),
        npu=_npu(settings.run_dir),
        server=ServerFacts(
            url=redact(server.url), version=server.version(), models=tuple(served)
        ),
        machine=machine(),
        model=model_facts(model),
        settings=settings_as_used(settings),
    )


def _served_by(run_dir: Path) -> ServedBy | None:
    served = note_or_none(run_dir / served_by.FILE, ServedBy)
    return served and served.model_copy(update={"command": redact(served.command)})


def _npu(run_dir: Path) -> NpuFacts | None:
    found = note_or_none(run_dir / readings.FILE, Readings)
    if found is None:
        return None
    cards = [f"{one.npu}.{one.chip} {one.name}" for one in found.chips]
    return NpuFacts(driver=found.driver_version, cards=tuple(cards))


def settings_as_used(settings: Settings) -> dict[str, str]:
    """Give each setting by its variable; a secret only as set or unset."""
    return {
        variable(field): _shown(getattr(settings, field))
        for field in type(settings).model_fields
    }


def redact(text: str) -> str:
    """Hide what may be a secret in a command line or a URL."""
    return _USER_IN_URL.sub(r"\1***@", _SECRET_FLAG.sub(r"\1***", text))


def _shown(value: object) -> str:
    if isinstance(value, SecretStr):
        return "(set)"
    return "(unset)" if value is None else redact(str(value))


def machine(root: Path = Path("/")) -> MachineFacts:
    """Describe this machine."""
    return MachineFacts(
        platform=platform.platform(),
        python=platform.python_version(),
        cpu=_field(root / "proc/cpuinfo", "model name") or platform.machine(),
        cpu_count=len(os.sched_getaffinity(0)),
        memory_bytes=1024
        * int(_field(root / "proc/meminfo", "MemTotal").split()[0] or 0),
    )


def _field(path: Path, name: str) -> str:
    """Value after `name:` in a file of /proc; empty if it is not there."""
    for line in path.read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""


def model_facts(model: Model) -> ModelFacts:
    """Describe the model."""
    source = model.source
    where = (
        f"ModelScope {source.id}, revision {source.revision}"
        if source.hub == "modelscope"
        else f"PyPI {source.package} {source.version}, {source.file}"
    )
    return ModelFacts(
        name=model.name, title=model.title, source=where, licence=model.licence
    )
