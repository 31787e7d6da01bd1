"""What is sent: salts, chats, conversations, closed loops, and what is refused."""

from __future__ import annotations

import itertools

import pytest

from bundle.api import Server
from scripts.benchmark.result import benchmark
from tests.fixtures.benchmark import SLO, load_of, run_on, verdicts
from tests.fixtures.known_server import Profile, serve


def test_each_request_has_its_own_salt_also_in_the_next_run() -> None:
    with serve(Profile()) as known:
        for _ in range(2):
            load = load_of(num_prompts=3, warm_ups=2)
            benchmark(Server(known.url), load, SLO, lambda *_: None)

    assert len({body["cache_salt"] for body in known.completions}) == 10
    assert known.completions[2]["prompt"] in [b["prompt"] for b in known.completions[7:]]


def test_the_role_of_a_chat_is_no_first_token_and_the_model_decides_the_end() -> None:
    chats = (({"role": "user", "content": "Hello"},),)
    with serve(Profile(ttft=0.08)) as known:
        load = load_of(chats=chats, num_prompts=4)
        result = benchmark(Server(known.url), load, SLO, lambda *_: None)
    first = result.requests[0]

    assert result.metrics.ttft_ms is not None
    assert result.metrics.ttft_ms.mean >= 80
    assert (first.prompt_tokens, first.output_tokens, len(first.chunks)) == (9, 12, 12)
    assert "ignore_eos" not in known.completions[0]
    assert verdicts(result)["output tokens"] == "not checked"


def test_a_closed_loop_keeps_as_many_under_way_as_asked_and_for_as_long() -> None:
    result = run_on(Profile(), concurrency=3, num_prompts=4, min_seconds=0.8)
    edges = [(one.sent, 1) for one in result.requests]
    edges += [(one.last_token or 0, -1) for one in result.requests]
    under_way = list(itertools.accumulate(step for _, step in sorted(edges)))

    assert max(under_way) == 3
    assert result.metrics.completed > 4
    assert max(one.last_token or 0 for one in result.requests) >= 0.8
    assert result.metrics.offered_rate is None


def test_a_conversation_goes_on_with_what_was_said() -> None:
    with serve(Profile(fault="cached")) as known:
        load = load_of(num_prompts=1, turns=3, prefix_len=4)
        result = benchmark(Server(known.url), load, SLO, lambda *_: None)
    first, second, third = [body["prompt"] for body in known.completions]
    answer = [2000] * 12

    assert (len(first), len(second), len(third)) == (20, 48, 76)
    assert second[:32] == first + answer
    assert third[:60] == second + answer
    assert len({body["cache_salt"] for body in known.completions}) == 1
    assert verdicts(result)["cached prompt tokens"] == "pass"
    assert result.metrics.total_cached_tokens == 48


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize(
    "refuses",
    [{"cache_salt"}, {"return_token_ids", "min_tokens"}, {"continuous_usage_stats"}],
)
def test_fields_that_the_server_refuses_are_left_out_and_named(
    refuses: set[str], *, named: bool
) -> None:
    profile = Profile(refuses=frozenset(refuses), names_refused=named)
    result = run_on(profile, num_prompts=3, warm_ups=2)
    told = {lack.partition(":")[0] for lack in result.lacks if "refuses" in lack}

    assert told == refuses
    assert (result.metrics.completed, result.metrics.failed) == (3, 0)
    assert result.valid or verdicts(result)["send lag"] == "fail"


def test_a_length_that_cannot_be_held_is_not_checked() -> None:
    profile = Profile(refuses=frozenset({"ignore_eos"}), fault="short")
    result = run_on(profile, num_prompts=3, warm_ups=1)

    assert result.metrics.failed == 0
    assert verdicts(result)["output tokens"] == "not checked"
