"""The benchmark against a server whose latencies and faults are known."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from bundle.api import Server
from bundle.errors import CouldNotRun
from bundle.model import Slo
from scripts.benchmark.load import Load
from scripts.benchmark.result import Benchmark, benchmark
from tests.fixtures.known_server import Fault, Profile, serve

if TYPE_CHECKING:
    from scripts.benchmark.metrics import Summary

SLO = Slo(ttft_seconds=0.5, tpot_seconds=0.1)
MODEL = Profile().model

# The truth is a floor: a chunk cannot arrive before it is sent. Above it there is slack
# for a noisy machine of two cores.
FLOOR_MS, SLACK_MS = 0.5, 3.0


def _load(**changes: object) -> Load:
    shape: dict[str, object] = {"input_len": 16, "output_len": 12, "rate": 40.0}
    shape |= {"num_prompts": 16, "warm_ups": 0, "stall_seconds": 5.0} | changes
    return Load(MODEL, **shape)  # type: ignore[arg-type] # a test's shorthand


def _run(profile: Profile, **changes: object) -> Benchmark:
    with serve(profile) as known:
        return benchmark(Server(known.url), _load(**changes), SLO, lambda *_: None)


def _near(truth_ms: float, summary: Summary | None) -> bool:
    assert summary is not None
    slack = max(SLACK_MS, 0.05 * truth_ms)
    return (
        truth_ms - FLOOR_MS <= summary.median <= summary.mean <= truth_ms + 3 * slack
        and (summary.median <= truth_ms + slack)
    )


def _verdicts(result: Benchmark) -> dict[str, str]:
    return {one.check: one.verdict for one in result.validity}


@pytest.mark.parametrize(("ttft", "tpot"), [(0.030, 0.020), (0.200, 0.005)])
def test_latencies_are_the_servers_own(ttft: float, tpot: float) -> None:
    result = _run(Profile(ttft=ttft, tpot=tpot))
    metrics = result.metrics

    assert metrics.completed == 16
    assert metrics.total_output_tokens == 16 * 12
    for truth, found in (
        (ttft, metrics.ttft_ms),
        (tpot, metrics.tpot_ms),
        (ttft + 11 * tpot, metrics.e2el_ms),
    ):
        assert found is not None
        assert 1000 * truth - FLOOR_MS <= found.mean
        assert found.median <= 1000 * truth + max(SLACK_MS, 50 * truth)


def test_several_tokens_in_a_chunk_are_counted_as_tokens() -> None:
    one = _run(Profile(ttft=0.05, tpot=0.01), output_len=13).metrics
    four = _run(Profile(ttft=0.05, tpot=0.01, tokens_per_chunk=4), output_len=13).metrics

    assert one.total_output_tokens == four.total_output_tokens == 16 * 13
    for metrics in (one, four):
        for found in (metrics.tpot_ms, metrics.itl_ms):
            assert found is not None
            assert found.mean >= 10.0 - FLOOR_MS
            assert found.median <= 10.0 + SLACK_MS
            assert found.count in {16, 16 * 12}
    assert four.max_output_tokens_per_s < four.peak_output_tokens_per_s


def test_an_empty_first_chunk_is_no_first_token() -> None:
    ttft = _run(Profile(ttft=0.08, tpot=0.005, empty_first_chunk=True)).metrics.ttft_ms

    assert ttft is not None
    assert ttft.mean >= 80 - FLOOR_MS


def test_a_healthy_run_passes_every_check_but_perhaps_the_clock() -> None:
    verdicts = _verdicts(_run(Profile()))
    verdicts.pop("send lag")

    assert set(verdicts.values()) == {"pass"}


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("http_429", "HTTP 429"),
        ("http_500", "HTTP 500"),
        ("stream_error", "error in the stream: EngineCore died"),
        ("cut", "connection broken"),
        ("hang", "timed out"),
        ("no_done", "the stream ended without [DONE]"),
        ("short", "asked for 12 tokens, got 11"),
        ("usage_disagrees", "usage says 13 tokens, the chunks brought 12"),
        ("not_json", "an event is no completion chunk"),
        ("no_finish", "finish_reason is ''"),
    ],
)
def test_a_bad_stream_is_a_failed_request(fault: Fault, error: str) -> None:
    profile = Profile(fault=fault, faulty=frozenset({2}))
    result = _run(profile, num_prompts=6, stall_seconds=0.5)

    assert (result.metrics.completed, result.metrics.failed) == (5, 1)
    assert result.errors[0].startswith(error)
    assert _verdicts(result)["no request failed"] == "fail"
    assert not result.valid


@pytest.mark.parametrize(
    ("fault", "check"),
    [("prompt_count", "prompt tokens"), ("cached", "cached prompt tokens")],
)
def test_a_wrong_count_makes_the_run_invalid(fault: Fault, check: str) -> None:
    profile = Profile(fault=fault, faulty=frozenset({2}))
    result = _run(profile, num_prompts=4)

    assert result.metrics.failed == 0
    assert _verdicts(result)[check] == "fail"
    assert not result.valid


@pytest.mark.parametrize(
    ("fault", "not_checked"),
    [
        ("no_usage", {"prompt tokens", "cached prompt tokens"}),
        ("no_ids", set()),
        ("text_only", set()),
    ],
)
def test_what_the_server_does_not_tell_is_not_checked(
    fault: Fault, not_checked: set[str]
) -> None:
    result = _run(Profile(fault=fault), num_prompts=4)
    verdicts = _verdicts(result)

    assert result.metrics.failed == 0
    assert result.metrics.total_output_tokens == 4 * 12
    assert not_checked == {name for name, verdict in verdicts.items() if "not" in verdict}


def test_each_request_has_its_own_salt_also_in_the_next_run() -> None:
    with serve(Profile()) as known:
        for _ in range(2):
            load = _load(num_prompts=3, warm_ups=2)
            benchmark(Server(known.url), load, SLO, lambda *_: None)

    assert len({body["cache_salt"] for body in known.completions}) == 10
    assert known.completions[2]["prompt"] in [b["prompt"] for b in known.completions[7:]]


def test_a_dead_server_is_no_table_of_zeros() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"

        with pytest.raises(CouldNotRun, match=r"none of 2 requests .* connection broken"):
            benchmark(Server(url), _load(num_prompts=2), SLO, lambda *_: None)


def test_a_failing_warm_up_ends_the_run_before_it_begins() -> None:
    with (
        serve(Profile(fault="http_500")) as known,
        pytest.raises(CouldNotRun, match="warm-up failed: HTTP 500"),
    ):
        benchmark(Server(known.url), _load(warm_ups=2), SLO, lambda *_: None)

    assert len(known.completions) == 2
