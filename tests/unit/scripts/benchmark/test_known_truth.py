"""The benchmark against a server whose latencies and faults are known."""

from __future__ import annotations

import socket

import pytest

from bundle.api import Server
from bundle.errors import CouldNotRun
from scripts.benchmark.counters import Counters
from scripts.benchmark.outcome import Outcome
from scripts.benchmark.result import benchmark
from scripts.benchmark.run import Run
from scripts.benchmark.validity import cache
from tests.fixtures.benchmark import SLO, load_of, run_on, verdicts
from tests.fixtures.known_server import Fault, Profile, serve


def test_several_tokens_in_a_chunk_are_counted_as_tokens() -> None:
    metrics = run_on(Profile(ttft=0.05, tokens_per_chunk=4), output_len=13).metrics

    assert metrics.itl_ms is not None
    assert metrics.chunk_gap_ms is not None
    assert (metrics.itl_ms.count, metrics.chunk_gap_ms.count) == (16 * 12, 16 * 3)
    assert metrics.max_output_tokens_per_s < metrics.peak_output_tokens_per_s


def test_an_empty_first_chunk_is_no_first_token() -> None:
    ttft = run_on(Profile(ttft=0.08, tpot=0.005, empty_first_chunk=True)).metrics.ttft_ms

    assert ttft is not None
    assert ttft.mean >= 80


def test_a_healthy_run_passes_every_check_but_perhaps_the_clock() -> None:
    found = verdicts(run_on(Profile()))
    found.pop("send lag")

    assert set(found.values()) == {"pass"}


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
    result = run_on(profile, num_prompts=6, stall_seconds=0.5)

    assert (result.metrics.completed, result.metrics.failed) == (5, 1)
    assert result.errors[0].startswith(error)
    assert verdicts(result)["no request failed"] == "fail"
    assert not result.valid


@pytest.mark.parametrize(
    ("fault", "check"),
    [("prompt_count", "prompt tokens"), ("cached", "cached prompt tokens")],
)
def test_a_wrong_count_makes_the_run_invalid(fault: Fault, check: str) -> None:
    profile = Profile(fault=fault, faulty=frozenset({2}))
    result = run_on(profile, num_prompts=4)

    assert result.metrics.failed == 0
    assert verdicts(result)[check] == "fail"
    assert not result.valid


@pytest.mark.parametrize(
    ("told", "total", "verdict"),
    [
        ((None, None), 0, "pass"),  # vLLM tells no 0
        ((None, None), None, "not checked"),
        ((None, None), 16, "not checked"),  # they may be another client's
        ((None, 16), 16, "fail"),
        ((None, 16), None, "fail"),
        ((0, 0), 16, "pass"),
        ((0, 16), None, "fail"),
    ],
)
def test_a_warm_cache_is_found_where_the_server_leaves_out_what_is_0(
    told: tuple[int | None, ...], total: int | None, verdict: str
) -> None:
    outcomes = tuple(Outcome(0.0, 0.0, cached_tokens=count) for count in told)
    others = Counters(requests=9, cached_tokens=total)
    alone = Counters(requests=2, cached_tokens=16)

    assert cache(Run(outcomes, server=others), load_of()).verdict == verdict
    assert cache(Run(outcomes, server=alone), load_of()).verdict == "fail"


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
    result = run_on(Profile(fault=fault), num_prompts=4)
    found = verdicts(result)
    lacking = {
        "no_usage": {"usage", "usage in each chunk", "cached tokens"},
        "no_ids": {"token ids"},
        "text_only": {"token ids", "usage in each chunk"},
    }

    assert lacking[fault] == {lack.partition(":")[0] for lack in result.lacks}

    assert result.metrics.failed == 0
    assert result.metrics.total_output_tokens == 4 * 12
    assert not_checked == {name for name, verdict in found.items() if "not" in verdict}


def test_a_dead_server_is_no_table_of_zeros() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"

        with pytest.raises(CouldNotRun, match=r"none of 2 requests .* connection broken"):
            benchmark(Server(url), load_of(num_prompts=2), SLO, lambda *_: None)


def test_a_failing_warm_up_ends_the_run_before_it_begins() -> None:
    with (
        serve(Profile(fault="http_500")) as known,
        pytest.raises(CouldNotRun, match="warm-up failed: HTTP 500"),
    ):
        benchmark(Server(known.url), load_of(warm_ups=2), SLO, lambda *_: None)

    assert len(known.completions) == 2


def test_a_server_that_dies_in_the_middle_leaves_what_was_measured() -> None:
    result = run_on(Profile(fault="die", faulty=frozenset({4})), num_prompts=24)

    assert result.metrics.completed >= 1
    assert result.metrics.failed >= 7
    assert any("connection broken" in error for error in result.errors)
    assert not result.valid


@pytest.mark.parametrize(
    ("profile", "verdict"),
    [
        (Profile(), "pass"),
        (Profile(metrics=False), "not checked"),
        (Profile(other_requests=1), "not checked"),
        (Profile(tokens_not_counted=1), "fail"),
        # More than ours: another's request that has not ended.
        (Profile(tokens_not_counted=-1), "not checked"),
    ],
)
def test_the_servers_own_count_is_held_against_the_clients(
    profile: Profile, verdict: str
) -> None:
    result = run_on(profile, num_prompts=3, warm_ups=1)

    assert verdicts(result)["server's own count"] == verdict
