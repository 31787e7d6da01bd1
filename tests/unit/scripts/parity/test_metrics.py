"""The metrics against truths worked out by hand, and against what they must refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bundle.model import ParityLimits
from scripts.parity import metrics, score, verdict
from scripts.parity.http import bounds


def logs(*rows: list[float]) -> metrics.Array:
    """Give log-probabilities of the masses in each row."""
    with np.errstate(divide="ignore"):
        return np.log(np.array(rows, np.float64))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[metrics.Array, metrics.Array]:
    """Give two sets of distributions of one shape, as softmax of any logits."""
    rows, classes = draw(st.integers(1, 4)), draw(st.integers(2, 30))
    numbers = st.floats(-60, 60, width=32)
    row = st.lists(numbers, min_size=classes, max_size=classes)
    sides = [draw(st.lists(row, min_size=rows, max_size=rows)) for _ in "pq"]
    p, q = (softmax(np.array(side, np.float64)) for side in sides)
    return p, q


def softmax(logits: metrics.Array) -> metrics.Array:
    """Give log-probabilities of logits."""
    wide = logits - logits.max(axis=1, keepdims=True)
    return np.asarray(wide - np.log(np.exp(wide).sum(axis=1, keepdims=True)))


def test_divergences_of_a_coin_are_those_worked_out_by_hand() -> None:
    """KL = ½ ln 2 + ½ ln ⅔ = ½ ln 4/3; JS from m = (⅜, ⅝)."""
    p, q = logs([0.5, 0.5]), logs([0.25, 0.75])
    js = (0.5 * math.log(4 / 3) + 0.5 * math.log(4 / 5)) / 2
    js += (0.25 * math.log(2 / 3) + 0.75 * math.log(6 / 5)) / 2

    assert metrics.kl(p, q) == pytest.approx([0.5 * math.log(4 / 3)], rel=1e-14)
    assert metrics.js(p, q) == pytest.approx([js], rel=1e-14)


def test_what_one_side_rules_out_counts_as_it_must() -> None:
    sure, fair = logs([1.0, 0.0]), logs([0.5, 0.5])

    assert metrics.kl(sure, fair) == pytest.approx([math.log(2)])
    assert metrics.kl(fair, sure)[0] == math.inf
    assert metrics.js(sure, logs([0.0, 1.0])) == pytest.approx([math.log(2)])


@given(pairs())
def test_kl_is_never_negative_and_js_stays_in_its_bounds(
    pair: tuple[metrics.Array, metrics.Array],
) -> None:
    p, q = (metrics.renormalise(side.astype(np.float32)) for side in pair)

    assert metrics.kl(p, q).min() >= metrics.NEGATIVE
    assert (
        -1e-12 <= metrics.js(p, q).min() <= metrics.js(p, q).max() <= math.log(2) + 1e-12
    )


@given(pairs())
def test_fewer_classes_give_a_lower_bound(
    pair: tuple[metrics.Array, metrics.Array],
) -> None:
    p, q = (metrics.renormalise(side) for side in pair)
    top = score.top(p, np.zeros(len(p), np.int64), count=p.shape[1] // 2)

    bound = metrics.kl(top.logs, metrics.coarse(q, top.ids))

    assert (bound <= metrics.kl(p, q) + 1e-9).all()


@given(pairs(), st.integers(1, 5))
def test_the_bound_over_http_is_one(
    pair: tuple[metrics.Array, metrics.Array], known: int
) -> None:
    p, q = (metrics.renormalise(side)[0] for side in pair)

    found, _ = bounds(np.exp(p[:known]), np.exp(q[:known]))

    assert -1e-9 <= found <= metrics.kl(p[None], q[None])[0] + 1e-6


def test_a_negative_divergence_aborts_and_is_not_clamped() -> None:
    with pytest.raises(metrics.HarnessError, match=r"KL divergence is -0\.179"):
        metrics.kl(logs([0.4, 0.4]), logs([0.5, 0.5]))  # 0.8 ln 0.8


def test_a_truncated_distribution_is_refused() -> None:
    with pytest.raises(metrics.HarnessError, match="some tokens are missing"):
        metrics.renormalise(logs([0.6, 0.3]))


def test_what_is_no_number_is_the_deployments_fault_and_named() -> None:
    broken = np.array([[np.nan, 0.0], [np.log(0.5), np.log(0.5)]])

    with pytest.raises(metrics.NotFinite, match="candidate: 1 of 2 positions"):
        metrics.renormalise(broken)
    with pytest.raises(metrics.NotFinite, match="states: 1 of 1 positions"):
        metrics.states(np.ones((1, 2)), np.array([[np.inf, 1.0]]))


def test_another_top_token_counts_unless_the_reference_thinks_both_equal() -> None:
    p = logs([0.4, 0.4, 0.2], [0.41, 0.39, 0.2], [0.7, 0.2, 0.1], [0.7, 0.2, 0.1])
    q = logs([0.1, 0.8, 0.1], [0.1, 0.8, 0.1], [0.1, 0.8, 0.1], [0.8, 0.1, 0.1])

    found = metrics.top_one(metrics.margins(p, q))

    assert (found.agreed, found.share, found.far, found.near_share) == (2, 0.5, 1, 0.75)
    assert [mismatch.position for mismatch in found.mismatches] == [1, 2]
    assert found.mismatches[1].margin == pytest.approx(math.log(3.5))
    assert found.interval.low == pytest.approx(0.15, abs=0.01)


def test_perplexity_difference_has_a_sign() -> None:
    """Losses of ln 4 against ln 2 halve the perplexity."""
    p, q = logs([0.25, 0.75]), logs([0.5, 0.5])

    found = score.figures(score.full(p, q, np.array([0])), None)

    assert found.perplexity_reference == pytest.approx(4)
    assert found.perplexity_relative == pytest.approx(-0.5)


def test_states_at_a_right_angle() -> None:
    found = metrics.states(np.array([[3.0, 4.0], [1, 0]]), np.array([[3.0, 4.0], [0, 1]]))

    assert (found.cosine_mean, found.cosine_min) == (0.5, 0.0)
    assert found.relative_l2_max == pytest.approx(math.sqrt(2))
    assert found.relative_l2_mean == pytest.approx(math.sqrt(2) / 2)


def test_a_figure_at_its_limit_passes_and_one_beyond_fails_by_name() -> None:
    p = logs([0.5, 0.5])
    figures = score.figures(score.full(p, p, np.array([0])), None)
    limits = ParityLimits(
        kl_mean=1e-8, kl_p99=1e-7, top1_share=1, perplexity_relative=1e-9,
        cosine_mean=1, cosine_min=1, ratio=3,
    )  # fmt: skip

    assert all(row.passed for row in verdict.rows(figures, 3.0, limits))
    failed = [row.name for row in verdict.rows(figures, 3.01, limits) if not row.passed]
    assert failed == ["KL ratio to the floor"]
