"""Write what npu-smi says to a file, again and again, for the exporter to read.

Only the server's container has the cards: a second one would be refused them, or take
them away.
"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

from bundle import npu
from bundle.errors import HostNotReady, run_command
from bundle.npu_smi import Readings, parse
from bundle.settings import READINGS, load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

INTERVAL_SECONDS = 15  # that of a scrape; npu-smi takes half a second of a core


def write(
    folder: Path,
    npu_smi: Callable[[], str] = npu.npu_smi,
    clock: Callable[[], float] = time.time,
) -> None:
    """Write one reading, with its time in seconds since 1970, to `npu.json`.

    A reader finds the old file or the new one; a card that cannot be read is a reading
    too, whose `problem` says why.
    """
    folder.mkdir(exist_ok=True)
    partial = folder / ".npu.json.partial"
    partial.write_text(json.dumps({"time": clock(), **asdict(_read(npu_smi))}))
    partial.replace(folder / "npu.json")


def _read(npu_smi: Callable[[], str]) -> Readings:
    try:
        return parse(npu_smi())
    except HostNotReady as error:
        return Readings(problem=error.problems[0].what)


def main() -> int:
    """Write for ever."""
    folder = load(os.environ).run_dir / READINGS
    while True:
        write(folder)
        time.sleep(INTERVAL_SECONDS)


if __name__ == "__main__":
    sys.exit(run_command(main))
