"""How far two sets of next-token distributions lie apart, in float64.

Arrays of log-probabilities are (positions, classes), of states (positions, width).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bundle.errors import CheckFailed, CouldNotRun, Problem
from scripts.parity.result import Mismatch, Spread, States, TopOne
from scripts.statistics import wilson

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Ids = npt.NDArray[np.int64]

NEAR_TIE = 0.1  # nats: rounding to bfloat16 alone moves a logit of 16 by 0.06
NEGATIVE = -1e-9  # below what float64 sums of a vocabulary lose
_MASS = 1e-3  # float32 log-probabilities sum to 1 much closer than this


class HarnessError(CouldNotRun):
    """The comparison itself is wrong, so that its figures would mean nothing."""


class NotFinite(CheckFailed):
    """A deployment gave probabilities or states that are no numbers."""


def renormalise(logs: npt.NDArray[Any], who: str = "candidate") -> Array:
    """Give float64 log-probabilities whose exponentials sum to 1 in every row.

    Raises:
        NotFinite: a value is NaN or +inf; `who` names whose it is.
        HarnessError: a row's mass is not about 1, as when only its top is there.
    """
    wide = np.asarray(logs, np.float64)
    if bad := int((np.isnan(wide) | np.isposinf(wide)).any(axis=1).sum()):
        raise not_finite(who, bad, len(wide))
    top = wide.max(axis=1, keepdims=True)
    if np.isneginf(top).any():
        raise HarnessError(Problem(f"{who}: a position has no mass", _REPORT))
    mass = top + np.log(np.exp(wide - top).sum(axis=1, keepdims=True))
    if (worst := float(np.abs(np.expm1(mass)).max())) > _MASS:
        what = f"{who}: probabilities sum to 1 ± {worst:.3g}: some tokens are missing"
        raise HarnessError(Problem(what, _REPORT))
    return np.asarray(wide - mass)


def not_finite(who: str, bad: int, of: int) -> NotFinite:
    """Give the error for `bad` of `of` positions that are no numbers."""
    return NotFinite(
        Problem(
            f"{who}: {bad} of {of} positions are not finite numbers",
            "serve in a dtype with a wider range, bfloat16 or float32",
        )
    )


def kl(p: Array, q: Array) -> Array:
    """Σ p ln(p/q) of every row, in nats: Kullback and Leibler (1951), eq. 2.4.

    Raises:
        HarnessError: it is below `NEGATIVE`, which no two distributions can be.
    """
    mass = np.exp(p)
    # 0 ln 0 is 0; where only q is 0, infinity is the truth.
    difference = np.subtract(p, q, out=np.zeros_like(p), where=mass > 0)
    found = np.asarray((mass * difference).sum(axis=1))
    if len(found) and (least := float(found.min())) < NEGATIVE:
        what = f"a KL divergence is {least:.3g}, which two distributions cannot have"
        raise HarnessError(Problem(what, _REPORT))
    return found


def js(p: Array, q: Array) -> Array:
    """½KL(p‖m) + ½KL(q‖m) with m = (p+q)/2, from 0 to ln 2: Lin (1991), eq. 3.4."""
    middle = np.logaddexp(p, q) - np.log(2)
    return np.asarray((kl(p, middle) + kl(q, middle)) / 2)


def spread(values: Array) -> Spread:
    """Sum up one value per position."""
    return Spread(
        mean=float(values.mean()),
        p99=float(np.percentile(values, 99)),
        max=float(values.max()),
        min=float(values.min()),
    )


def top_one(margins: Array) -> TopOne:
    """Count agreement from the nats that the reference gives its own choice more."""
    apart = np.flatnonzero(margins > 0)
    agreed = len(margins) - len(apart)
    return TopOne(
        agreed=agreed,
        share=agreed / len(margins),
        interval=wilson(agreed, len(margins)),
        far=int((margins > NEAR_TIE).sum()),
        near_share=float((margins <= NEAR_TIE).mean()),
        mismatches=tuple(
            Mismatch(position=int(at), margin=float(margins[at])) for at in apart
        ),
    )


def margins(p: Array, q: Array) -> Array:
    """Reference's maximum less what it gives the candidate's most likely token."""
    rows = np.arange(len(p))
    return np.asarray(p.max(axis=1) - p[rows, q.argmax(axis=1)])


def perplexity(losses: Array) -> float:
    """Exp of the mean negative log-likelihood, `losses` in nats."""
    return float(np.exp(losses.mean()))


def states(reference: Array, candidate: Array) -> States:
    """Compare the two sides' states; raises `NotFinite` for the candidate's."""
    if bad := int((~np.isfinite(candidate)).any(axis=1).sum()):
        raise not_finite("candidate's states", bad, len(candidate))
    length = np.linalg.norm(reference, axis=1)
    cosine = (reference * candidate).sum(axis=1) / (
        length * np.linalg.norm(candidate, axis=1)
    )
    apart = np.linalg.norm(reference - candidate, axis=1) / length
    return States(
        cosine_mean=float(cosine.mean()),
        cosine_min=float(cosine.min()),
        relative_l2_mean=float(apart.mean()),
        relative_l2_max=float(apart.max()),
    )


def coarse(logs: Array, ids: Sequence[Ids] | Ids) -> Array:
    """Keep the classes `ids` of each row, and all others as one more class.

    KL and JS of coarser distributions are lower bounds of the finer ones' (data
    processing inequality; Cover and Thomas, Elements of Information Theory, 2.8).
    """
    kept = np.take_along_axis(logs, np.asarray(ids), axis=1)
    rest = np.exp(logs)
    np.put_along_axis(rest, np.asarray(ids), 0.0, axis=1)
    with np.errstate(divide="ignore"):
        tail = np.log(rest.sum(axis=1, keepdims=True))
    return np.concatenate([kept, tail], axis=1)


_REPORT = "this is a fault of the comparison, not of the deployment: report it"
