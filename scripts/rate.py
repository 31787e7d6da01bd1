"""k of n, as it is stored and as it is said."""

from __future__ import annotations

from bundle.model import Strict
from scripts.statistics import Interval, wilson


class Rate(Strict):
    """`count` of `total`, and the 95% Wilson interval of the share."""

    count: int
    total: int
    interval: Interval

    @property
    def share(self) -> float:
        """The share, 0 to 1; 0 of 0 is 0."""
        return self.count / max(1, self.total)

    def __str__(self) -> str:
        low, high = self.interval.low or 0, self.interval.high or 0
        share = f"{self.count} of {self.total} = {self.share:.1%}"
        return f"{share} (95% interval {low:.1%} to {high:.1%})"


def rate(count: int, total: int) -> Rate:
    """Give the rate with its interval."""
    return Rate(count=count, total=total, interval=wilson(count, total))
