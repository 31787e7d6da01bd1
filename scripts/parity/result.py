"""What a parity run found, as it is written to parity.json."""

from __future__ import annotations

from typing import Literal

from bundle.model import Dtype, Strict
from scripts.statistics import Interval

# `full`: every token of the vocabulary. `golden` and `server`: the recorded or answered
# ones, and all others as one class; KL and JS are then lower bounds of the true ones.
Form = Literal["full", "golden", "server"]


class Spread(Strict):
    """One value per position, in nats."""

    mean: float
    p99: float
    max: float
    min: float


class Mismatch(Strict):
    """Another most likely token; `margin` is by how many nats the reference minds."""

    position: int
    margin: float


class TopOne(Strict):
    """Positions whose most likely token is the reference's; equal ones count as it.

    far: mismatches of more than `metrics.NEAR_TIE` nats, which rounding does not explain;
    near_share: all other positions. The verdict is by this one.
    """

    agreed: int
    share: float
    interval: Interval
    far: int
    near_share: float
    mismatches: tuple[Mismatch, ...]


class States(Strict):
    """Cosine and relative L2 distance of the states after the last norm."""

    cosine_mean: float
    cosine_min: float
    relative_l2_mean: float
    relative_l2_max: float


class Figures(Strict):
    """One candidate against the reference; `states` is None where none were to be had.

    perplexity_relative: (candidate - reference) / reference; it has a sign.
    """

    positions: int
    kl: Spread
    js: Spread
    top1: TopOne
    perplexity_reference: float
    perplexity_relative: float
    states: States | None


class Row(Strict):
    """One figure held against its limit."""

    name: str
    value: float
    limit: float
    sense: Literal["at most", "at least"]
    passed: bool


class Result(Strict):
    """Figures, the noise floor in the same dtype, and the verdict.

    ratio: mean KL of the candidate over that of the floor; None without a floor.
    peak_bytes: largest resident memory of the process, weights included.
    """

    form: Form
    dtype: Dtype
    weights_sha256: str
    versions: dict[str, str]
    figures: Figures
    floor: Figures | None
    ratio: float | None
    rows: tuple[Row, ...]
    passed: bool
    seconds: float
    peak_bytes: int
