"""Note what is started, for the report that another container writes."""

from __future__ import annotations

import shlex
from contextlib import suppress
from typing import TYPE_CHECKING

from bundle import manifest
from bundle.checks.container import cann_version
from bundle.served_by import FILE, ServedBy
from entrypoint.command import vllm_argv

if TYPE_CHECKING:
    from bundle.checks.start import Start


def note(start: Start) -> None:
    """Write it into the run folder; a start does not fail for the lack of it."""
    path = start.settings.run_dir / FILE
    with suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        path.write_text(served_by(start).model_dump_json(), encoding="utf-8")


def served_by(start: Start) -> ServedBy:
    """Describe a start that passed its checks."""
    written = start.weights / manifest.MANIFEST
    return ServedBy(
        family=start.family,
        packages=start.packages if isinstance(start.packages, dict) else {},
        cann=cann_version(start),
        manifest_sha256=manifest.sha256(written) if written.is_file() else None,
        command=shlex.join(vllm_argv(start.settings, start.model, start.family)),
    )
