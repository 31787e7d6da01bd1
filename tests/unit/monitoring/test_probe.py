"""The probe against a server whose truth is known."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from pydantic import SecretStr

from bundle.api import Server
from bundle.model import Question, load_model, load_questions
from monitoring import probe_request
from monitoring.collector import Scrape
from monitoring.listener import REASONS, Heard, ProbeFailed
from monitoring.probe_request import ask
from monitoring.prober import Prober
from tests.fixtures.monitored_server import Fault, Truth, serve

MODELS = Path(__file__).parents[3] / "models"
MODEL = load_model(MODELS, "smollm2-135m-instruct")
CAPITAL = Question(
    ask="What is the capital of China?", any_of=("beijing",), language="en"
)
NOW = 1_800_000_000.0


def prober(url: str) -> Prober:
    return Prober(Server(url, timeout=2), MODEL, [CAPITAL], 15, now=lambda: NOW)


def sample(probe: Prober, name: str, **labels: str) -> float | None:
    """Give one value of the exporter's page."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Scrape((probe,)))
    return registry.get_sample_value(name, labels)


@pytest.mark.parametrize("chunked", [True, False])
def test_times_are_the_truth_that_the_server_was_set_to(*, chunked: bool) -> None:
    truth = Truth(latencies=((0.1, 0.01),), tokens=20, chunked=chunked)
    with serve(truth) as url:
        every = [ask(Server(url), "m", CAPITAL.ask) for _ in range(5)]

    for (
        heard
    ) in every:  # never less than the truth; a late first token is the others' gain
        assert (heard.tokens, heard.text) == (20, Truth().otherwise)
        assert heard.ttft >= 0.1
        assert heard.e2el >= 0.29
        assert heard.tpot == pytest.approx((heard.e2el - heard.ttft) / 19)
    # More only by what a busy machine takes, which it does not take every time.
    assert min(heard.ttft for heard in every) < 0.15
    assert min(heard.tpot for heard in every) < 0.012
    assert min(heard.e2el for heard in every) < 0.34


def test_a_request_holds_a_fresh_salt_and_asks_for_enough_tokens() -> None:
    truth = Truth(key="secret")
    with serve(truth) as url:
        for _ in range(2):
            ask(Server(url, key=SecretStr("secret")), "m", CAPITAL.ask)

    first, second = truth.bodies
    assert first.pop("cache_salt") != second.pop("cache_salt")
    assert first == second
    assert 16 <= first["min_tokens"] <= first["max_tokens"] <= 32
    assert (first["temperature"], first["stream"]) == (0, True)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("http", "http"),
        ("error", "stream"),
        ("cut", "stream"),
        ("no_done", "stream"),
        ("not_json", "stream"),
        ("one_token", "short"),
        ("silent", "timeout"),
    ],
)
def test_each_fault_has_its_reason(
    fault: Fault, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe_request, "SILENCE_SECONDS", 0.5)
    with serve(Truth(fault=fault)) as url:
        probe = prober(url)
        probe.once()

    for known in REASONS:
        counted = sample(probe, "bundle_probe_failures_total", reason=known)
        assert counted == (1 if known == reason else 0)
    assert sample(probe, "bundle_probe_attempts_total") == 1
    assert sample(probe, "bundle_probe_ttft_seconds_count") == 0
    assert sample(probe, "bundle_probe_last_success_timestamp_seconds") is None


def test_a_server_that_drips_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_request, "TOTAL_SECONDS", 0.3)
    with (
        serve(Truth(latencies=((0.01, 0.1),))) as url,
        pytest.raises(ProbeFailed, match="not ended after"),
    ):
        ask(Server(url), "m", CAPITAL.ask)


def test_nobody_listening_is_refused() -> None:
    probe = prober("http://127.0.0.1:9")
    probe.once()

    assert sample(probe, "bundle_probe_failures_total", reason="refused") == 1


def hang_up(listener: socket.socket) -> None:
    """Take one request, and close without a word."""
    connection, _ = listener.accept()
    connection.recv(65536)
    connection.close()


def test_somebody_who_hangs_up_is_no_refusal() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=hang_up, args=(listener,))
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(ProbeFailed) as caught:
            ask(Server(url), "m", CAPITAL.ask)
        thread.join()

    assert caught.value.reason == "stream"


def test_a_silent_socket_is_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_request, "SILENCE_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as hangs:
        url = f"http://127.0.0.1:{hangs.getsockname()[1]}"
        with pytest.raises(ProbeFailed) as caught:
            ask(Server(url), "m", CAPITAL.ask)

    assert caught.value.reason == "timeout"


def test_a_success_is_measured_judged_and_remembered() -> None:
    with serve(Truth()) as url:
        probe = prober(url)
        probe.once()

    for name in ("ttft", "tpot", "e2e"):
        assert sample(probe, f"bundle_probe_{name}_seconds_count") == 1
    assert sample(probe, "bundle_canary_correct_total") == 1
    assert sample(probe, "bundle_canary_wrong_total") == 0
    assert sample(probe, "bundle_probe_last_success_timestamp_seconds") == NOW
    (kept,) = probe.history.probes.since(0)
    assert (kept.verdict, kept.question, kept.time) == ("right", CAPITAL.ask, NOW)


def test_nonsense_at_full_speed_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    truth = Truth(otherwise="!" * 40)
    with serve(truth) as url:
        probe = prober(url)
        probe.once()
        probe.once()
        truth.otherwise = "Beijing, of course"
        probe.once()

    assert sample(probe, "bundle_canary_wrong_total") == 2
    assert sample(probe, "bundle_canary_garbled_total") == 2
    assert sample(probe, "bundle_canary_correct_total") == 1
    assert sample(probe, "bundle_probe_ttft_seconds_count") == 3
    told = capsys.readouterr().err.splitlines()
    assert told == [f"probe: garbled: {'!' * 40!r}", "probe: is well again"]


def test_a_queue_is_not_made_longer() -> None:
    truth = Truth(waiting=1)
    with serve(truth) as url:
        probe = prober(url)
        probe.once()
        assert truth.bodies == []
        truth.waiting = 0
        probe.once()

    assert sample(probe, "bundle_probe_skipped_total") == 1
    assert sample(probe, "bundle_probe_attempts_total") == 1


def test_a_scrape_sends_no_request() -> None:
    truth = Truth()
    with serve(truth) as url:
        assert sample(prober(url), "bundle_probe_attempts_total") == 0

    assert truth.bodies == []


def test_it_runs_until_it_is_stopped() -> None:
    stop = threading.Event()
    with serve(Truth(latencies=((0.001, 0.0001),))) as url:
        probe = Prober(Server(url), MODEL, [CAPITAL], 0.01)
        thread = threading.Thread(target=probe.run, args=(stop,))
        thread.start()
        deadline = time.monotonic() + 20
        while len(probe.history.probes.since(0)) < 3:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        stop.set()
        thread.join(5)

    assert not thread.is_alive()


def test_every_model_has_canary_questions_with_an_objective_as_an_edge() -> None:
    for name in (path.parent.name for path in MODELS.glob("*/model.yaml")):
        model, canary = load_model(MODELS, name), load_questions(MODELS, name).canary
        probe = Prober(Server("http://127.0.0.1:9"), model, canary, 15)
        probe.metrics.measured(Heard("", 2, model.slo.ttft_seconds, 1))
        le = str(model.slo.ttft_seconds)

        assert sample(probe, "bundle_probe_ttft_seconds_bucket", le=le) == 1


def test_no_sample_is_the_time_of_a_creation() -> None:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Scrape((prober("http://127.0.0.1:9"),)))
    page = generate_latest(registry).decode()

    assert "bundle_probe_attempts_total 0.0" in page
    assert "_created" not in page
