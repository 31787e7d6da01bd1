"""What the server's container writes of its NPUs, and the exporter reads.

Only a container that holds a card may open it: a second one takes it away or fails with
-8020. So the exporter opens no device and reads this file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from bundle.model import Strict

FILE = Path("readings/npu.json")  # in RUN_DIR

_Number = Annotated[float, Field(allow_inf_nan=False)]
_Bytes = Annotated[int, Field(ge=0)]


class Process(Strict):
    """One process on a chip; in a container the name is often empty."""

    pid: int
    name: str
    memory_bytes: _Bytes | None


class Chip(Strict):
    """One chip as `npu-smi info` shows it; `None` is what it does not tell.

    health: OK, Warning, Alarm, Critical or UNKNOWN. aicore_ratio: 0 to 1. The 310P has
    no HBM; its model memory is `memory_…`.
    """

    npu: int
    chip: int
    name: str
    health: str | None
    bus_id: str | None
    power_watts: _Number | None
    temperature_celsius: _Number | None
    aicore_ratio: _Number | None
    hbm_used_bytes: _Bytes | None
    hbm_total_bytes: _Bytes | None
    memory_used_bytes: _Bytes | None
    memory_total_bytes: _Bytes | None
    processes: tuple[Process, ...]


class Readings(Strict):
    """One reading of all chips at `time` (Unix seconds), or the problem with it."""

    time: _Number
    problem: str | None
    chips: tuple[Chip, ...]
