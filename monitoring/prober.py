"""The prober: asks the server a question with a known answer, again and again.

In the background, since a scrape must not cause a generation: two Prometheus servers
would double it, and a slow engine would make the scrape time out.
"""

from __future__ import annotations

import itertools
import sys
import time
from typing import TYPE_CHECKING

from bundle.errors import BundleError
from monitoring import canary, history
from monitoring.engine import parse, total
from monitoring.history import Probe, Tokens
from monitoring.listener import ProbeFailed
from monitoring.probe_metrics import ProbeMetrics
from monitoring.probe_request import ask

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from threading import Event

    from prometheus_client.core import Metric

    from bundle.api import Server
    from bundle.model import Model, Question
    from monitoring.history import Verdict
    from monitoring.listener import Heard


class Prober:
    """One request after another; what comes of them is in `metrics` and `history`."""

    name = "probe"

    def __init__(
        self,
        server: Server,
        model: Model,
        questions: Sequence[Question],
        interval: float,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Ask `questions` in turn, with a pause of `interval` seconds after each."""
        self._server, self._model = server, model.name
        self._questions = itertools.cycle(questions)
        self._interval, self._now = interval, now
        self._told = ""
        self.metrics = ProbeMetrics(model.slo, interval)
        self.history = history.empty()

    def run(self, stop: Event) -> None:
        """Probe until `stop` is set."""
        while not stop.is_set():
            self.once()
            stop.wait(self._interval)

    def once(self) -> None:
        """Send one probe, unless it would make a queue longer."""
        if self._saturated():
            self.metrics.skipped.inc()
            return
        question = next(self._questions)
        self.metrics.attempts.inc()
        try:
            heard = ask(self._server, self._model, question.ask)
        except ProbeFailed as error:
            self.metrics.failures.labels(error.reason).inc()
            self._tell(str(error))
        else:
            self._take(heard, question)

    def collect(self) -> list[Metric]:
        """Give what the probes have measured; asks nobody."""
        return self.metrics.collect()

    def _saturated(self) -> bool:
        """Whether requests wait; a server that does not tell is probed."""
        try:
            found = parse(self._server.metrics())
        except BundleError:
            return False
        tokens = total(found, "generation_tokens")
        if tokens is not None:
            self.history.tokens.add(Tokens(self._now(), tokens))
        return (total(found, "requests_waiting") or 0) > 0

    def _take(self, heard: Heard, question: Question) -> None:
        self.metrics.measured(heard)
        self.metrics.last_success = self._now()
        verdict = _judge(heard.text, question)
        (self.metrics.correct if verdict == "right" else self.metrics.wrong).inc()
        if verdict == "garbled":
            self.metrics.garbled.inc()
        self._tell("" if verdict == "right" else f"{verdict}: {heard.text!r}")
        self.history.probes.add(
            Probe(
                self.metrics.last_success,
                heard.ttft,
                heard.tpot,
                question.ask,
                heard.text,
                verdict,
            )
        )

    def _tell(self, problem: str) -> None:
        """Log what is new; not the same line at every probe."""
        if problem != self._told:
            line = problem or "is well again"
            print(f"probe: {line}", file=sys.stderr, flush=True)
        self._told = problem


def _judge(text: str, question: Question) -> Verdict:
    if canary.garbled(text, question):
        return "garbled"
    return "right" if canary.correct(text, question) else "wrong"
