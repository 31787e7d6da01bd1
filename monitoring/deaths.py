"""Why the engine died, from the note that is written when it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily
from pydantic import BaseModel

from bundle.causes.diagnose import UNKNOWN
from bundle.causes.table import CAUSES
from bundle.note import read_note
from bundle.settings import READINGS

if TYPE_CHECKING:
    from pathlib import Path

    from prometheus_client.core import Metric

FILE = "death.json"  # in the readings of RUN_DIR
KNOWN = (*(cause.id for cause in CAUSES), UNKNOWN)


class _Note(BaseModel):
    """How often the engine died, by id of `bundle.causes`."""

    deaths: dict[str, int]


class Deaths:
    """Gives every cause from the start, so that a first death is an increase."""

    name = "deaths"

    def __init__(self, run_dir: Path) -> None:
        """Watch the note below `run_dir`."""
        self._path = run_dir / READINGS / FILE

    def collect(self) -> list[Metric]:
        """Read the note; raises `CouldNotRun` if it is broken."""
        note = read_note(self._path, _Note)
        counts = note.deaths if note else {}
        family = CounterMetricFamily(
            "bundle_engine_deaths",
            "Deaths of the engine, by cause.",
            labels=["cause"],
        )
        for cause in KNOWN:
            family.add_metric([cause], counts.get(cause, 0))
        return [family]
