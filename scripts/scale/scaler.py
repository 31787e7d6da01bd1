"""KEDA and the autoscaler behind it, as `chart/templates/keda.yaml` sets them up."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

POLL = 15  # pollingInterval, seconds; what it reads was scraped as long ago
DOWN = 600  # stabilizationWindowSeconds
START = 240  # seconds from a new pod to its first answer, with a filled compile cache


@dataclass(frozen=True)
class Rule:
    """Thresholds per replica; None leaves a trigger out."""

    waiting: float | None
    running: float | None

    def wanted(self, waiting: float, running: float) -> int:
        """Replicas that the largest of the triggers asks for, at least one."""
        asked = [(waiting, self.waiting), (running, self.running)]
        return max([1, *(math.ceil(now / limit) for now, limit in asked if limit)])


@dataclass
class Scaler:
    """Up at once, double or 4 more in a minute; down a tenth, after 10 minutes."""

    rule: Rule
    most: int
    replicas: int
    _asked: deque[int] = field(default_factory=lambda: deque(maxlen=DOWN // POLL))
    _before: deque[int] = field(default_factory=lambda: deque(maxlen=60 // POLL))
    _starting: deque[tuple[int, int]] = field(default_factory=deque)

    def poll(self, now: int, waiting: float, running: float) -> None:
        """Set replicas by what was scraped; new ones are ready `START` later."""
        asked = min(self.rule.wanted(waiting, running), self.most)
        self._asked.append(asked)
        self._before.append(self.replicas)
        start = self._before[0]  # a minute ago
        if asked > self.replicas:
            up = min(asked, max(2 * start, start + 4))
            self.replicas = max(up, self.replicas)
            self._starting.append((now + START, self.replicas))
        elif max(self._asked) < self.replicas:
            self.replicas = max(*self._asked, start - max(start // 10, 1))

    def ready(self, now: int, ready: int) -> int:
        """Replicas that answer `now`, of which `ready` did a second ago."""
        while self._starting and self._starting[0][0] <= now:
            ready = max(ready, self._starting.popleft()[1])
        return min(ready, self.replicas)
