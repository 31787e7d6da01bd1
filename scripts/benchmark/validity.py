"""Whether a run measured what it set out to measure.

A run with a wrong token count or a warm cache is not a slower run: it is no run. What a
server does not tell is not checked, and the result says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from bundle.model import Strict
from scripts.benchmark.metrics import prompt_length
from scripts.statistics import percentile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scripts.benchmark.load import Load
    from scripts.benchmark.outcome import Outcome
    from scripts.benchmark.run import Run

SEND_LAG = "send lag"
MAX_SEND_LAG_MS = 10
_CLOCK_MS = 1.0  # both clocks are read between other work


class Validity(Strict):
    """One check of a run, with what was found."""

    check: str
    verdict: Literal["pass", "fail", "not checked"]
    found: str


def check(run: Run, load: Load) -> tuple[Validity, ...]:
    """Run every check; a run is valid if none of them fails."""
    return tuple(one(run, load) for one in CHECKS)


def whole(run: Run, load: Load) -> Validity:
    """Nobody stopped the run."""
    done, total = len(run.outcomes), load.count * load.turns
    found = f"{done} requests ended"
    if run.unfinished is not None:
        found = f"stopped by Ctrl-C after {done} of {total}, {run.unfinished} under way"
    return _validity("whole run", run.unfinished is None, found)


def no_request_failed(run: Run, _load: Load) -> Validity:
    """Each request: HTTP 200, no error in the stream, an end, and all its tokens."""
    errors = [outcome.error for outcome in run.outcomes if outcome.error]
    first = f", first: {errors[0]}" if errors else ""
    found = f"{len(errors)} of {len(run.outcomes)}{first}"
    return _validity("no request failed", not errors, found)


def prompt_tokens(run: Run, _load: Load) -> Validity:
    """Each prompt had as many tokens as planned, by the server's count."""
    pairs = [(one.prompt_tokens, one.planned_prompt) for one in _good(run)]
    return _exact("prompt tokens", pairs, "only the server can count a chat")


def output_tokens(run: Run, _load: Load) -> Validity:
    """Each output had as many tokens as planned, by the server's count or its ids."""
    pairs = [
        (
            None
            if one.counted == "chunks" and one.completion_tokens is None
            else one.tokens,
            one.planned_output,
        )
        for one in _good(run)
    ]
    return _exact("output tokens", pairs, "the model decides where to end")


def cache(run: Run, load: Load) -> Validity:
    """No prompt token came from the prefix cache, unless the load is made for it.

    vLLM 0.23 leaves the count out where it is 0 (vllm/entrypoints/openai/completion/
    serving.py), so that silence may mean none; its `/metrics` then has the total.
    """
    name = "cached prompt tokens"
    good = _good(run)
    told, total = sum(one.cached_tokens or 0 for one in good), run.server.cached_tokens
    ours = total if run.server.requests == len(good) else None
    if not load.cached and (told or ours):
        return Validity(
            check=name, verdict="fail", found=f"{told or ours:.0f}, planned 0"
        )
    if not load.cached and total == 0:
        return Validity(check=name, verdict="pass", found="0, by the server's /metrics")
    if not load.cached:
        return _exact(name, [(one.cached_tokens, 0) for one in good], "")
    known = [one.cached_tokens for one in good if one.cached_tokens is not None]
    if not known:
        return _not_checked(name, "the server does not tell them")
    total = sum(one.prompt_tokens or 0 for one in good)
    found = f"{sum(known)} of {total}, meant to be cached"
    return Validity(check=name, verdict="pass", found=found)


def sent_on_time(run: Run, _load: Load) -> Validity:
    """The client kept its own schedule: the 95th percentile of the send lag."""
    lag = percentile([1000 * (one.sent - one.scheduled) for one in run.outcomes], 95)
    found = f"P95 {lag:.1f} ms, at most {MAX_SEND_LAG_MS}"
    return _validity(SEND_LAG, lag <= MAX_SEND_LAG_MS, found)


def servers_count(run: Run, _load: Load) -> Validity:
    """The server counted the same requests and tokens, and no shorter a TTFT.

    Its TTFT begins later and ends earlier than the client's, so that the client's mean
    cannot be below it, up to `_CLOCK_MS`.
    """
    name, server, good = "server's own count", run.server, _good(run)
    if server.requests is None:
        return _not_checked(name, "no /metrics of vLLM's")
    if server.requests != len(good):
        who = "another client, as a probe is, or a replica that the page does not show"
        return _not_checked(name, f"{server.requests:.0f} requests: {who}")
    mine = {
        "prompt_tokens": sum(prompt_length(one) for one in good),
        "generation_tokens": sum(one.tokens for one in good),
    }
    told = {key: getattr(server, key) for key in mine}
    other = {key: n for key, n in told.items() if n is not None and n != mine[key]}
    wrong = [f"{key} {n:.0f}, the client's {mine[key]}" for key, n in other.items()]
    if wrong and all(n > mine[key] for key, n in other.items()):
        # It counts tokens as they come, and a request when it ends.
        return _not_checked(name, f"{'; '.join(wrong)}: one of another was under way")
    wrong += _ttft_below(run)
    found = "; ".join(wrong) or f"the same {len(good)} requests and their tokens"
    return _validity(name, not wrong, found)


def _ttft_below(run: Run) -> list[str]:
    theirs, good = run.server.mean_ttft_ms, _good(run)
    mine = 1000 * sum(one.ttft for one in good) / len(good)
    if theirs is None or mine >= theirs - _CLOCK_MS:
        return []
    return [f"mean TTFT {theirs:.1f} ms, the client's {mine:.1f} ms"]


CHECKS: tuple[Callable[[Run, Load], Validity], ...] = (
    whole,
    no_request_failed,
    prompt_tokens,
    output_tokens,
    cache,
    sent_on_time,
    servers_count,
)


def _good(run: Run) -> list[Outcome]:
    return [outcome for outcome in run.outcomes if not outcome.error]


def _exact(
    name: str, pairs: Sequence[tuple[int | None, int | None]], free: str
) -> Validity:
    """Compare pairs of found and planned; nothing planned is `free`, and why."""
    planned = [(found, plan) for found, plan in pairs if plan is not None]
    told = [(found, plan) for found, plan in planned if found is not None]
    if not planned:
        return _not_checked(name, free)
    if len(told) < len(planned):
        return _not_checked(name, f"the server told {len(told)} of {len(planned)} counts")
    counts, plans = zip(*told, strict=True)
    found = f"{_span(counts)}, planned {_span(plans)}"
    return _validity(name, all(found == plan for found, plan in told), found)


def _span(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low} to {high}"


def _not_checked(name: str, why: str) -> Validity:
    return Validity(check=name, verdict="not checked", found=why)


def _validity(name: str, good: bool, found: str) -> Validity:  # noqa: FBT001 - the verdict itself
    return Validity(check=name, verdict="pass" if good else "fail", found=found)
