"""The form of `report.json`; `docs/report.schema.json` is generated from it."""

from __future__ import annotations

from typing import Literal

from bundle.model import Licence, Strict
from bundle.served_by import ServedBy
from scripts.accuracy.result import Accuracy
from scripts.benchmark.beside import Beside
from scripts.benchmark.result import Benchmark
from scripts.consistency.result import Consistency
from scripts.parity.result import Result as Parity
from scripts.questions import Score

# Raised with every change that an older reader would misread.
VERSION: Literal[1] = 1

Verdict = Literal["pass", "fail", "not run"]


class Check(Strict):
    """One line of the verdict table: what was found against what was required."""

    name: str
    verdict: Verdict
    found: str
    required: str


class NotRun(Strict):
    """A part that could not be run, or was not asked for, and why."""

    part: str
    reason: str


class ServerFacts(Strict):
    """What the server says of itself; no version means that it does not tell."""

    url: str
    version: str | None
    models: tuple[str, ...]


class MachineFacts(Strict):
    """The machine that ran the checks, which need not be the server's."""

    platform: str
    python: str
    cpu: str
    cpu_count: int
    memory_bytes: int


class ModelFacts(Strict):
    """The model, its source and licence, from `model.yaml`."""

    name: str
    title: str
    source: str
    licence: Licence


class NpuFacts(Strict):
    """What the server's container read of its cards."""

    driver: str | None
    cards: tuple[str, ...]


class Environment(Strict):
    """Where and with what the numbers were made; `settings` hold no secret.

    `served_by` and `npu` are what the server's own container noted, where its run folder
    is shared; they are null for a server elsewhere, and `npu` without a card.
    """

    server: ServerFacts
    served_by: ServedBy | None = None
    npu: NpuFacts | None = None
    machine: MachineFacts
    model: ModelFacts
    settings: dict[str, str]


class Report(Strict):
    """All that a run of the smoke test found."""

    version: Literal[1] = VERSION
    made_at: str
    suite: str
    verdict: Verdict
    checks: tuple[Check, ...]
    environment: Environment
    benchmark: Benchmark | None = None
    reference: Beside | None = None
    questions: Score | None = None
    accuracy: Accuracy | None = None
    consistency: Consistency | None = None
    parity: Parity | None = None
    not_run: tuple[NotRun, ...]
