"""What the server's container notes of itself at its start, for the report to read.

The smoke test runs beside it, with no engine and no card to ask.
"""

from __future__ import annotations

from pathlib import Path

from bundle.model import Family, Strict
from bundle.settings import READINGS

FILE = Path(READINGS) / "served.json"  # in RUN_DIR


class ServedBy(Strict):
    """The engine that was started, on what, and with which weights.

    `packages` holds versions by name; `cann` and `manifest_sha256` are null where there
    is none; `command` is the engine's command line.
    """

    family: Family
    packages: dict[str, str]
    cann: str | None
    manifest_sha256: str | None
    command: str

    @property
    def on_card(self) -> bool:
        """Whether it computes on an NPU."""
        return self.family != "cpu"
