"""What the engine's metrics are called here, and what vLLM calls them, by release.

https://docs.vllm.ai/en/stable/usage/metrics/; which names a release has is recorded in
`tests/fixtures/vllm-metrics/`.
"""

from __future__ import annotations

from dataclasses import dataclass

PREFIX = "bundle_engine_"


@dataclass(frozen=True)
class Family:
    """A stable name, its kind and help, and what vLLM calls it, newest name first.

    `expected` is false for what some releases or deployments do not have.
    """

    name: str
    kind: str
    help: str
    sources: tuple[str, ...]
    expected: bool = True


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
    Family(
        "prefix_cache_queries_tokens",
        "counter",
        "Tokens of prompts that were looked up in the prefix cache.",
        ("vllm:prefix_cache_queries", "vllm:gpu_prefix_cache_queries"),
    ),
    Family(
        "prefix_cache_hits_tokens",
        "counter",
        "Tokens of prompts that were found in the prefix cache.",
        ("vllm:prefix_cache_hits", "vllm:gpu_prefix_cache_hits"),
    ),
    Family(
        "start_time_seconds",
        "gauge",
        "When the engine's server started; Unix time. Not with several API servers.",
        ("process_start_time_seconds",),
        expected=False,
    ),
)
