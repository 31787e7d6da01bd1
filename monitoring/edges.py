"""Where the buckets of a latency histogram end.

vLLM's own edges for TPOT are 10 and 25 ms, so any TPOT in between reads as p50 17.5 ms.
Edges of a constant ratio bound the relative error of a quantile by that ratio instead.
"""

from __future__ import annotations

import math

FINE, COARSE = 1.05, 1.5


def latency_edges(low: float, high: float, top: float, exact: float) -> tuple[float, ...]:
    """Give edges in seconds: fine from `low` to `high`, coarse on to `top`.

    `exact` is an objective: only at an edge is the share of requests below it exact.
    https://prometheus.io/docs/practices/histograms/
    """
    return tuple(
        sorted({*geometric(low, high, FINE), *geometric(high, top, COARSE), exact})
    )


def geometric(low: float, high: float, factor: float) -> list[float]:
    """Give `low`, `low * factor`, … and `high`, to four digits."""
    steps = math.ceil(math.log(high / low) / math.log(factor))
    return [*(float(f"{low * factor**i:.4g}") for i in range(steps)), high]
