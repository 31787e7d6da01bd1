"""The engine's own metrics under names that stay the same over vLLM releases.

Which release calls what how: https://docs.vllm.ai/en/stable/usage/metrics/ and the
recordings under `tests/fixtures/vllm-metrics/`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families

from bundle.errors import CouldNotRun, Problem
from monitoring.collector import Incomplete

if TYPE_CHECKING:
    from bundle.api import Server

PREFIX = "bundle_engine_"


@dataclass(frozen=True)
class Family:
    """A stable name, its kind and help, and what vLLM calls it, newest name first."""

    name: str
    kind: str
    help: str
    sources: tuple[str, ...]


def _histogram(name: str, help_text: str, *sources: str) -> Family:
    return Family(name, "histogram", help_text, sources)


FAMILIES = (
    _histogram(
        "time_to_first_token_seconds",
        "TTFT: arrival in the server to first token; without network and body read.",
        "vllm:time_to_first_token_seconds",
    ),
    _histogram(
        "time_per_output_token_seconds",
        "TPOT: decode time by (tokens - 1), once per request; take its mean, not its "
        "quantiles: vLLM's buckets are 10 and 25 ms.",
        "vllm:request_time_per_output_token_seconds",
        "vllm:time_per_output_token_seconds",
    ),
    _histogram(
        "inter_token_latency_seconds",
        "ITL: gap between two outputs of a request.",
        "vllm:inter_token_latency_seconds",
        "vllm:time_per_output_token_seconds",
    ),
    _histogram(
        "e2e_request_latency_seconds",
        "E2EL: arrival in the server to last token.",
        "vllm:e2e_request_latency_seconds",
    ),
    _histogram(
        "request_queue_time_seconds",
        "Time that a request waited before it was scheduled.",
        "vllm:request_queue_time_seconds",
    ),
    Family(
        "requests_running",
        "gauge",
        "Requests in the batch.",
        ("vllm:num_requests_running",),
    ),
    Family(
        "requests_waiting",
        "gauge",
        "Requests in the queue.",
        ("vllm:num_requests_waiting",),
    ),
    Family(
        "kv_cache_usage_ratio",
        "gauge",
        "Share of the KV cache in use, 0 to 1.",
        ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
    ),
    Family(
        "prompt_tokens",
        "counter",
        "Tokens of prompts.",
        ("vllm:prompt_tokens",),
    ),
    Family(
        "generation_tokens",
        "counter",
        "Tokens generated.",
        ("vllm:generation_tokens",),
    ),
    Family(
        "requests",
        "counter",
        "Requests ended, by finished_reason; abort and error are among them.",
        ("vllm:request_success",),
    ),
    Family(
        "preemptions",
        "counter",
        "Requests put back into the queue for lack of KV cache.",
        ("vllm:num_preemptions",),
    ),
)


class Engine:
    """vLLM's `/metrics`, renamed; nothing is computed."""

    name = "engine"

    def __init__(self, server: Server) -> None:
        """Ask `server` at every scrape; its timeout bounds the scrape."""
        self._server = server

    def collect(self) -> list[Metric]:
        """Give the families that are there; raises `Incomplete` if one is not."""
        found = parse(self._server.metrics())
        if missing := [f.name for f in FAMILIES if PREFIX + f.name not in found]:
            raise Incomplete(list(found.values()), ", ".join(missing))
        return list(found.values())


def parse(text: str) -> dict[str, Metric]:
    """Give the known families of a page of vLLM, by their stable names.

    Raises:
        CouldNotRun: the text is no Prometheus exposition.
    """
    try:
        page = {metric.name: metric for metric in text_string_to_metric_families(text)}
    except ValueError as error:
        raise CouldNotRun(
            Problem(f"/metrics cannot be parsed: {error}", "read the server's log")
        ) from error
    return {
        PREFIX + family.name: _renamed(page[source], family)
        for family in FAMILIES
        if (source := next((s for s in family.sources if s in page), None))
    }


def _renamed(metric: Metric, family: Family) -> Metric:
    renamed = Metric(PREFIX + family.name, family.help, family.kind)
    for sample in metric.samples:
        suffix = sample.name.removeprefix(metric.name)
        if suffix != "_created":
            renamed.add_sample(renamed.name + suffix, sample.labels, sample.value)
    return renamed
