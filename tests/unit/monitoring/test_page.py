"""The status page: tells what a user would get, to any browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.parser import text_string_to_metric_families

from bundle.model import load_model
from monitoring import history
from monitoring.history import History, Probe, Tokens, Verdict
from monitoring.page.found import Found
from monitoring.page.html import page
from monitoring.page.status import Status, rate, status
from monitoring.page.words import CHINESE, ENGLISH, choose
from monitoring.runbook import runbook

ROOT = Path(__file__).parents[3]
GOLDEN = (ROOT / "tests/fixtures/exporter-page.txt").read_text()
MODEL = load_model(ROOT / "models", "smollm2-135m-instruct")
NOW = 1_800_000_000.0


def probe(ago: float, ttft: float = 0.06, verdict: Verdict = "right") -> Probe:
    return Probe(NOW - ago, ttft, 0.016, "<b>Capital?</b>", "Beijing & more", verdict)


def past(*probes: Probe, tokens: tuple[Tokens, ...] = ()) -> History:
    found = history.empty()
    for one in probes:
        found.probes.add(one)
    for count in tokens:
        found.tokens.add(count)
    return found


def whole(*probes: Probe) -> Status:
    """Give the status of the recorded page."""
    tokens = (Tokens(NOW - 100, 1000), Tokens(NOW - 50, 2000), Tokens(NOW, 4000))
    found = Found(text_string_to_metric_families(GOLDEN))
    return status(found, past(*probes, tokens=tokens), MODEL, "0.23.0", NOW)


def up(value: float) -> list[Metric]:
    return [
        GaugeMetricFamily("bundle_server_up", "", value),
        GaugeMetricFamily("bundle_probe_interval_seconds", "", 15),
    ]


def test_the_recorded_page_becomes_values() -> None:
    found = whole(*(probe(15 * i, 0.01 * (i + 1)) for i in reversed(range(11))))

    assert found.state == "up"
    assert found.version == "0.23.0"
    assert (found.running, found.waiting) == (1, 0)
    assert found.tokens_per_second == 30
    assert found.ttft.p50 == pytest.approx(0.06)
    assert found.ttft.p90 == pytest.approx(0.10)
    assert [chip.healthy for chip in found.chips] == [1, 0, 1]
    assert found.chips[2].memory_size == 21527 * 2**20
    assert found.smoke
    assert found.smoke.verdict == "pass"
    assert [answer.time for answer in found.answers] == [NOW - 15 * i for i in range(5)]
    assert found.failing == ()


@pytest.mark.parametrize(
    ("server_up", "probes", "state"),
    [
        (1, [probe(20), probe(5)], "up"),
        (0, [probe(20), probe(5)], "down"),
        (1, [], "silent"),
        (1, [probe(121)], "silent"),
        (1, [probe(119)], "up"),
        (1, [probe(20, verdict="garbled"), probe(5, verdict="wrong")], "wrong"),
        (1, [probe(20, verdict="wrong"), probe(5)], "up"),
        (1, [probe(20), probe(5, verdict="wrong")], "up"),
    ],
)
def test_the_state_is_what_a_user_would_get(
    server_up: float, probes: list[Probe], state: str
) -> None:
    found = status(Found(up(server_up)), past(*probes), MODEL, None, NOW)

    assert found.state == state


def test_what_is_not_known_is_no_zero() -> None:
    shown = page(status(Found(up(0)), past(), MODEL, None, NOW), ENGLISH)

    assert ">Down<" in shown
    assert ENGLISH.no_probe in shown
    assert ENGLISH.no_smoke in shown
    assert "NPU" not in re.sub("<style>.*?</style>", "", shown, flags=re.DOTALL)
    assert re.search(r'class="number ">\N{EN DASH} <small>running', shown)
    assert "0 ms" not in shown


def test_a_restart_gives_no_negative_rate() -> None:
    assert rate((Tokens(0, 500), Tokens(10, 20))) is None
    assert rate((Tokens(0, 500),)) is None


def test_a_source_that_fails_is_named() -> None:
    failing = GaugeMetricFamily("bundle_collector_success", "", labels=["collector"])
    failing.add_metric(["npu"], 0)
    found = status(Found([*up(1), failing]), past(probe(5)), MODEL, None, NOW)

    assert f"npu {ENGLISH.failing}" in page(found, ENGLISH)


@pytest.mark.parametrize("words", [ENGLISH, CHINESE], ids=lambda words: words.lang)
def test_it_is_one_file_without_script_and_all_escaped(words: object) -> None:
    language = ENGLISH if words is ENGLISH else CHINESE
    shown = page(whole(probe(30), probe(5, 3.0)), language)

    assert f'<html lang="{language.lang}">' in shown
    assert "<script" not in shown
    assert not re.findall(r'(?:src|href)="(?!/|data:,)', shown)
    assert "url(" not in shown
    assert "&lt;b&gt;Capital?&lt;/b&gt;" in shown
    assert "Beijing &amp; more" in shown
    assert 'href="/report"' in shown


def test_a_p90_beyond_the_objective_is_red() -> None:
    good, bad = (page(whole(probe(9, v), probe(5, v)), ENGLISH) for v in (0.1, 3.0))

    assert 'class="number bad">100 ms' not in good
    assert 'class="number bad">3000 ms' in bad


@pytest.mark.parametrize(
    ("header", "lang"),
    [
        ("", "en"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh-CN"),
        ("en-US,en;q=0.9,zh;q=0.8", "en"),
        ("fr,zh;q=0.5", "zh-CN"),
        ("en;q=0.1, zh-TW;q=0.2", "zh-CN"),
        ("zh;q=0", "en"),
        ("zh;q=x, ???", "en"),
        ("zh;q=.....", "en"),
    ],
)
def test_the_browsers_language_is_taken(header: str, lang: str) -> None:
    assert choose(header).lang == lang


def test_an_hour_is_kept() -> None:
    kept = past(*(probe(ago) for ago in range(7200, 0, -15))).probes.since(0)

    assert kept[0].time >= NOW - 3615
    assert len(kept) == 241


def test_the_runbook_is_a_page_with_an_anchor_per_alert() -> None:
    shown = runbook()

    assert '<h2 id="serverdown">ServerDown</h2>' in shown
    assert '<h2 id="exit-2-could-not-run">' in shown
    assert "<code>docker compose ps</code>" in shown
    assert "&lt;npu&gt;" in shown
    assert "](" not in shown
