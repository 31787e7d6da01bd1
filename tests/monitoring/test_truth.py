"""Quantiles by PromQL against latencies that the test sets.

Two contrasting profiles: a number that is scaled or offset and passes one cannot pass the
other. Beside it what vLLM's own buckets make of the same requests.
"""

from __future__ import annotations

from math import exp
from statistics import NormalDist, quantiles
from typing import TYPE_CHECKING

import pytest

from tests.fixtures.monitored_server import Truth, serve
from tests.monitoring.stack import Stack, running, wait

if TYPE_CHECKING:
    from pathlib import Path

SAMPLES = 80
# Lognormal with a standard deviation of 12%, in an order that is not by size.
SPREAD = [exp(NormalDist(0, 0.12).inv_cdf((7 * i % 40 + 0.5) / 40)) for i in range(40)]
OURS = {"ttft": "bundle_probe_ttft", "tpot": "bundle_probe_tpot"}
THEIRS = {
    "ttft": "vllm:time_to_first_token",
    "tpot": "vllm:request_time_per_output_token",
}


@pytest.mark.parametrize(("ttft", "tpot"), [(0.28, 0.012), (0.44, 0.022)])
def test_the_probe_tells_the_truth_and_vllms_buckets_do_not(
    ttft: float, tpot: float, tmp_path: Path
) -> None:
    truth = Truth(latencies=[(ttft * share, tpot * share) for share in SPREAD])
    with serve(truth) as url, running(tmp_path, url) as stack:
        wait("too few probes", lambda: len(truth.given) >= SAMPLES, 120)
        truth.waiting = 1  # so that no further probe is sent
        count = f"{OURS['ttft']}_seconds_count"
        wait("not all are scraped", lambda: stack.value(count) == len(truth.given))
        for index, name in enumerate(("ttft", "tpot")):
            given = [pair[index] for pair in truth.given]
            true = quantiles(given, n=10, method="inclusive")
            for share, value in ((0.5, true[4]), (0.9, true[8])):
                assert quantile(stack, OURS[name], share) == pytest.approx(
                    value, rel=0.02
                )
            error = abs(quantile(stack, THEIRS[name], 0.5) / true[4] - 1)
            print(f"{name} {1000 * true[4]:.1f} ms: vLLM's p50 is off by {error:.0%}")
            assert 0.09 < error < 0.7


def quantile(stack: Stack, family: str, share: float) -> float:
    return stack.value(
        f"histogram_quantile({share}, sum by (le) ({family}_seconds_bucket))"
    )
