"""The result file: all that `vllm bench serve --save-result --save-detailed` writes.

Same names and units (vLLM 0.23.0, vllm/benchmarks/serve.py), so that what reads its files
reads ours, and beside them our own keys. docs/benchmark.md says where a value means
something else than there.
"""

from __future__ import annotations

import datetime as dt
import itertools
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scripts.benchmark.metrics import Metrics
    from scripts.benchmark.record import Record
    from scripts.benchmark.result import Benchmark
    from scripts.benchmark.summary import Summary


def text(result: Benchmark) -> str:
    """Give the file; `Benchmark.model_validate_json` reads it."""
    return json.dumps(superset(result), ensure_ascii=False) + "\n"


def superset(result: Benchmark) -> dict[str, Any]:
    """Give vLLM's keys, and ours where vLLM has none of that name."""
    theirs = {**_header(result), **summaries(result.metrics), **_lists(result.requests)}
    return {**result.model_dump(mode="json"), **theirs}


def summaries(metrics: Metrics) -> dict[str, Any]:
    """Give the numbers of a run under vLLM's names."""
    totals = {name: getattr(metrics, name) for name in _TOTALS}
    return {
        **totals,
        "rtfx": 0.0,
        **_latency("ttft", metrics.ttft_ms),
        **_latency("tpot", metrics.tpot_ms),
        **_latency("itl", metrics.chunk_gap_ms),
        **_latency("e2el", metrics.e2el_ms),
    }


_TOTALS = (
    "duration",
    "completed",
    "failed",
    "total_input_tokens",
    "total_output_tokens",
    "request_throughput",
    "request_goodput",
    "output_throughput",
    "total_token_throughput",
    "max_output_tokens_per_s",
    "max_concurrent_requests",
)


def _header(result: Benchmark) -> dict[str, Any]:
    asked = result.asked
    backend = "openai-chat" if asked.chats else "openai"
    date = dt.datetime.fromtimestamp(result.started).astimezone()
    rate = "inf" if asked.request_rate is None else asked.request_rate
    return {
        "date": f"{date:%Y%m%d-%H%M%S}",
        "endpoint_type": backend,
        "backend": backend,
        "label": None,
        "model_id": asked.model,
        "tokenizer_id": None,
        "num_prompts": asked.num_prompts,
        "request_rate": rate,
        "burstiness": 1.0,
        "max_concurrency": asked.concurrency,
    }


def _latency(name: str, summary: Summary | None) -> dict[str, float]:
    """Give a latency in milliseconds; 0 for no samples, as vLLM does."""
    known = ("mean", "median", "std", "p90", "p99")
    return {f"{k}_{name}_ms": getattr(summary, k) if summary else 0.0 for k in known}


def _lists(requests: tuple[Record, ...]) -> dict[str, list[Any]]:
    """Give the lists over requests, in seconds; a failed one has 0 tokens there."""
    return {
        "input_lens": [one.prompt_tokens or one.planned_prompt or 0 for one in requests],
        "output_lens": [0 if one.error else one.output_tokens for one in requests],
        "ttfts": [_ttft(one) for one in requests],
        "itls": [_gaps(one) for one in requests],
        "start_times": [one.sent for one in requests],
        "generated_texts": ["" for _ in requests],
        "errors": [one.error for one in requests],
    }


def _ttft(one: Record) -> float:
    return 0.0 if one.first_token is None else one.first_token - one.sent


def _gaps(one: Record) -> list[float]:
    times = (time for time, _ in one.chunks)
    return [after - before for before, after in itertools.pairwise(times)]
