"""Why the engine died, from the note that is written when it does."""

from __future__ import annotations

from collections import Counter
from threading import Lock
from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily
from pydantic import BaseModel

from bundle.causes import CAUSES
from monitoring.note import read_note

if TYPE_CHECKING:
    from pathlib import Path

    from prometheus_client.core import Metric

FILE = "death.json"  # in RUN_DIR
UNKNOWN = "unknown"
KNOWN = (*(cause.id for cause in CAUSES), UNKNOWN)


class Death(BaseModel):
    """The last death: Unix time, and an id of `bundle.causes`."""

    time: float
    cause: str


class Deaths:
    """Counts by cause since the exporter started; every cause is there from the start."""

    name = "deaths"

    def __init__(self, run_dir: Path) -> None:
        """Watch the note in `run_dir`; what it says already is not new."""
        self._path = run_dir / FILE
        self._seen: float | None = None
        self._first = True
        self._counts: Counter[str] = Counter()
        self._lock = Lock()  # two scrapes at once would count twice

    def collect(self) -> list[Metric]:
        """Read the note; raises `CouldNotRun` if it is broken."""
        with self._lock:
            self._count()
            counts = self._counts.copy()
        family = CounterMetricFamily(
            "bundle_engine_deaths",
            "Deaths of the engine since the exporter started, by cause.",
            labels=["cause"],
        )
        for cause in KNOWN:
            family.add_metric([cause], counts[cause])
        return [family]

    def _count(self) -> None:
        death = read_note(self._path, Death)
        if death and death.time != self._seen:
            if not self._first:
                self._counts[death.cause if death.cause in KNOWN else UNKNOWN] += 1
            self._seen = death.time
        self._first = False
