"""What a server does not take or tell, and what a run does instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scripts.benchmark.run import Run


def lacks(run: Run) -> tuple[str, ...]:
    """Name what the server did not take or tell, each with what that costs."""
    good = [outcome for outcome in run.outcomes if not outcome.error]
    missing = (
        (
            any(one.counted != "token_ids" for one in good),
            "token ids: tokens per chunk are taken from usage, or one a chunk",
        ),
        (
            any(one.completion_tokens is None for one in good),
            "usage: tokens are counted by the client",
        ),
        (not all(one.usage_per_chunk for one in good), "usage in each chunk"),
        (
            any(one.cached_tokens is None for one in good),
            "cached tokens: vLLM with --enable-prompt-tokens-details tells all but 0",
        ),
        (not run.server.known, "/metrics of vLLM's"),
    )
    refused = (f"{name}: the server refuses it" for name in sorted(run.refused))
    return (*(name for lacking, name in missing if lacking), *refused)
