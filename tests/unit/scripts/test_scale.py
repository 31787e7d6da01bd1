"""The simulation: its card goes through what was measured, its rule is the chart's."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from bundle.model import load_model
from scripts.scale.__main__ import main
from scripts.scale.card import TPOT_SECONDS, TTFT_SECONDS, Card, Pool, crowded
from scripts.scale.day import DAY, demand, simulate
from scripts.scale.scaler import DOWN, POLL, Rule, Scaler
from tests.fixtures.chart import ROOT, manifests, of_kind

if TYPE_CHECKING:
    from collections.abc import Iterator

CARD = Card()


def test_the_card_goes_through_the_base_point() -> None:
    running = CARD.steady(3.56)

    assert CARD.tpot(running, 3.56 * CARD.prefill) == pytest.approx(0.01571, rel=0.002)


def test_the_pool_settles_where_the_formula_says() -> None:
    pool = Pool(CARD, ready=10)
    for _ in range(300):
        ttft, tpot = pool.second(80)

    assert pool.running / 10 == pytest.approx(CARD.steady(8), rel=0.1)
    assert tpot == pytest.approx(CARD.tpot(CARD.steady(8), 8 * CARD.prefill), rel=0.05)
    assert ttft == pytest.approx(CARD.ttft)


def test_beyond_its_capacity_the_queue_grows() -> None:
    pool = Pool(CARD, ready=1)
    for _ in range(300):
        ttft, _ = pool.second(2 * CARD.capacity())

    assert pool.waiting > 100
    assert ttft > TTFT_SECONDS


def test_the_objectives_are_the_model_s() -> None:
    slo = load_model(ROOT / "models", "qwen-1_8b-chat").slo

    assert (slo.ttft_seconds, slo.tpot_seconds) == (TTFT_SECONDS, TPOT_SECONDS)


def test_the_rule_is_the_chart_s() -> None:
    (found,) = of_kind(manifests("cpu-watched"), "ScaledObject")
    spec = found["spec"]
    behaviour = spec["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
    policies = {
        name: [(one["type"], one["value"]) for one in way["policies"]]
        for name, way in behaviour.items()
    }
    periods = {
        one["periodSeconds"] for way in behaviour.values() for one in way["policies"]
    }
    thresholds = {one["metadata"]["threshold"] for one in spec["triggers"]}

    assert spec["pollingInterval"] == POLL
    assert behaviour["scaleUp"]["stabilizationWindowSeconds"] == 0
    assert behaviour["scaleDown"]["stabilizationWindowSeconds"] == DOWN
    assert policies == {
        "scaleUp": [("Percent", 100), ("Pods", 4)],
        "scaleDown": [("Percent", 10), ("Pods", 1)],
    }
    assert periods == {60}
    assert thresholds == {"4", "24"}


def replicas(scaler: Scaler, running: float, minutes: int) -> Iterator[int]:
    """Give the replicas after each minute under a steady load."""
    for poll in range(minutes * 60 // POLL):
        scaler.poll(poll * POLL, 0, running)
        if (poll + 1) * POLL % 60 == 0:
            yield scaler.replicas


def test_it_doubles_each_minute_up_to_what_is_asked() -> None:
    found = list(replicas(Scaler(Rule(4, 24), 100, 1), 24 * 70, 5))

    assert found == [5, 10, 20, 40, 70]


def test_it_goes_down_by_a_tenth_a_minute_after_ten() -> None:
    scaler = Scaler(Rule(4, 24), 100, 40)
    scaler.poll(0, 0, 24 * 40)
    found = list(replicas(scaler, 0, 14))

    assert found[:9] == [40] * 9
    assert found[10:] == sorted(found[10:], reverse=True)
    assert found[-1] < 40
    assert all(b >= a - max(a // 10, 1) for a, b in pairwise(found))


def test_new_pods_answer_after_a_start() -> None:
    scaler = Scaler(Rule(4, 24), 10, 1)
    scaler.poll(0, 0, 24 * 3)

    assert [scaler.ready(now, 1) for now in (0, 239)] == [1, 1]
    assert scaler.ready(240, 1) == 3


def test_the_day_has_its_peaks_and_its_jump() -> None:
    assert max(demand(second, 100) for second in range(0, DAY, 60)) == 100
    assert demand(4 * 3600, 100) < 10
    assert demand(14 * 3600, 100) > 4 * demand(14 * 3600 - 1, 100)


def test_the_queue_alone_fails_and_what_runs_holds() -> None:
    queue, both = (simulate(CARD, rule, 10) for rule in (Rule(4, None), Rule(4, 24)))

    assert min(queue.ttft_good, queue.tpot_good) < 0.9
    assert min(both.ttft_good, both.tpot_good) > 0.99
    assert both.used < 0.6


def test_a_random_spread_crowds_pods_only_near_a_full_batch() -> None:
    assert crowded(24, 64) < 1e-6
    assert crowded(60, 64) > 0.2


def test_the_page_has_the_tables_that_are_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([]) == 0

    page = (ROOT / "docs/scale.md").read_text()
    for table in capsys.readouterr().out.strip().split("\n\n"):
        assert table in page
