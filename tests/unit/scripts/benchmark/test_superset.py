"""The result file: vLLM's numbers for the same requests, its names, and ours beside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bundle.model import Slo
from scripts.benchmark.metrics import measure
from scripts.benchmark.outcome import Arrival, Outcome
from scripts.benchmark.result import Benchmark
from scripts.benchmark.superset import summaries, superset, text
from tests.fixtures.benchmark import run_on
from tests.fixtures.known_server import Profile

RECORDED = Path(__file__).parents[3] / "fixtures/vllm-bench"

# Keys of a file of `vllm bench serve --save-result --save-detailed` of 0.23.0.
THEIRS = {
    *("date", "endpoint_type", "backend", "label", "model_id", "tokenizer_id"),
    *("num_prompts", "request_rate", "burstiness", "max_concurrency", "duration"),
    *("completed", "failed", "total_input_tokens", "total_output_tokens", "rtfx"),
    *("request_throughput", "request_goodput", "output_throughput"),
    *("total_token_throughput", "input_lens", "output_lens", "ttfts", "itls"),
    *("start_times", "generated_texts", "errors", "max_output_tokens_per_s"),
    "max_concurrent_requests",
    *(f"{k}_{n}_ms" for k in ("mean", "median", "std", "p99") for n in ("ttft", "tpot")),
    *(f"{k}_{n}_ms" for k in ("mean", "median", "std", "p99") for n in ("itl", "e2el")),
}


def _outcome(one: dict[str, Any]) -> Outcome:
    return Outcome(
        scheduled=one["sent"],
        sent=one["sent"],
        arrivals=tuple(Arrival(*chunk) for chunk in one["chunks"]),
        prompt_tokens=one["prompt_tokens"],
        completion_tokens=one["output_tokens"],
        error=one["error"],
    )


@pytest.mark.parametrize("name", ["one-token-chunks", "many-token-chunks"])
def test_the_numbers_are_those_that_vllm_computes(name: str) -> None:
    """The recording is held fresh by tests/process/test_vllm_metrics.py."""
    recorded = json.loads((RECORDED / f"{name}.json").read_text())
    theirs = json.loads((RECORDED / f"{name}.metrics.json").read_text())
    theirs["duration"] = recorded["duration"]
    goodput = {name: ms / 1000 for name, ms in recorded["goodput_ms"].items()}
    slo = Slo(ttft_seconds=goodput["ttft"], tpot_seconds=goodput["tpot"])
    ours = summaries(measure([_outcome(one) for one in recorded["requests"]], 1.0, slo))

    assert set(theirs) == set(ours)
    assert ours == {key: pytest.approx(value, rel=1e-6) for key, value in theirs.items()}


def test_the_file_has_every_key_of_vllms_and_reads_back_as_the_result() -> None:
    profile = Profile(fault="stream_error", faulty=frozenset({1}))
    result = run_on(profile, num_prompts=3)
    told, back = superset(result), Benchmark.model_validate_json(text(result))

    assert set(told) >= THEIRS
    assert told["output_lens"] == [12, 0, 12]
    assert told["errors"] == ["", "error in the stream: EngineCore died", ""]
    assert [len(gaps) for gaps in told["itls"]] == [11, 5, 11]
    assert back == result


def test_the_lists_give_the_summaries() -> None:
    told = superset(run_on(Profile(ttft=0.05), num_prompts=4))

    mean = 1000 * sum(told["ttfts"]) / 4
    assert told["mean_ttft_ms"] == pytest.approx(mean, abs=0.01)
    assert told["duration"] == pytest.approx(
        max(
            start + first + sum(gaps)
            for start, first, gaps in zip(
                told["start_times"], told["ttfts"], told["itls"], strict=True
            )
        )
        - min(told["start_times"]),
        abs=1e-5,
    )


def test_no_number_of_a_result_is_left_out_of_the_file() -> None:
    result = run_on(Profile(), num_prompts=2)

    assert set(result.model_dump()) <= set(superset(result))
