"""What the server's container writes of its NPUs, and the exporter reads.

Only a container that holds a card may open it: a second one takes it away or fails with
-8020. So the exporter opens no device and reads this file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from bundle.model import Strict
from bundle.npu_smi import Chip
from bundle.settings import READINGS

FILE = Path(READINGS) / "npu.json"  # in RUN_DIR


class Readings(Strict):
    """One reading of all chips at `time` (Unix seconds), or the problem with it."""

    time: Annotated[float, Field(allow_inf_nan=False)]
    driver_version: str | None = None
    problem: str | None
    chips: tuple[Chip, ...]
    silent_npus: tuple[int, ...] = ()
