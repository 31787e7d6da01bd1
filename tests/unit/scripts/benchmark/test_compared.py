"""Beside the reference, beside an earlier run, and by turns with another server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from bundle.errors import CouldNotRun, run_command
from scripts.benchmark import against, baseline, turns
from scripts.benchmark.__main__ import main
from scripts.benchmark.beside import reference
from scripts.benchmark.result import Benchmark, Stopped
from scripts.benchmark.superset import summaries, text
from tests.fixtures.known_server import Profile, serve
from tests.fixtures.one_queue import measure

if TYPE_CHECKING:
    from scripts.benchmark.result import Benchmark

MODELS = Path(__file__).parents[4] / "models"
REFERENCE = baseline.read(MODELS / "qwen-1_8b-chat/baseline.yaml")
SMALL = ["--input-len", "16", "--output-len", "8", "--request-rate", "80"]


def run(profile: Profile, out: Path, *words: str) -> int:
    """Run the command on a server of its own."""
    with serve(profile) as known:
        environ = {
            "BUNDLE_MODEL": profile.model,
            "BUNDLE_SERVER_URL": known.url,
            "BUNDLE_RUN_DIR": str(out / "run"),
        }
        words = (*SMALL, "--num-prompts", "16", "--out", str(out), *words)
        return run_command(lambda: main(words, environ))


def test_the_reference_agrees_with_itself() -> None:
    """Its own numbers fit each other: 64 requests of 512 and 128 tokens in 17.95 s."""
    found = REFERENCE.metrics

    assert found["request_throughput"] == pytest.approx(64 / 17.95, rel=0.002)
    assert found["output_throughput"] == pytest.approx(64 * 128 / 17.95, rel=0.002)
    assert found["total_token_throughput"] == pytest.approx(64 * 640 / 17.95, rel=0.002)
    assert set(found) == {*baseline.MORE_IS_BETTER, *baseline.LESS_IS_BETTER}


@pytest.mark.parametrize(
    ("slow", "verdict"), [(0.5, "faster"), (1, "same"), (2, "slower")]
)
def test_latencies_are_judged_by_their_direction(slow: float, verdict: str) -> None:
    known = baseline.Baseline(
        source="made",
        model="m",
        device="",
        load=REFERENCE.load,
        tolerance=0.05,
        metrics=summaries_of(1.0),
    )
    rows = baseline.compare(measure(4, 99, slow=slow).metrics, known, same_device=True)
    found = {row.metric: row.verdict for row in rows}

    assert found["median_ttft_ms"] == found["mean_tpot_ms"] == verdict
    assert {found["output_throughput"], found["request_throughput"]} == {"same"}


def summaries_of(slow: float) -> dict[str, float]:
    """Give the compared numbers of a known run."""
    found = summaries(measure(4, 99, slow=slow).metrics)
    names = (*baseline.MORE_IS_BETTER, *baseline.LESS_IS_BETTER)
    return {name: found[name] for name in names}


def test_numbers_of_another_device_are_shown_and_not_judged() -> None:
    rows = baseline.compare(measure(4, 99).metrics, REFERENCE, same_device=False)

    assert len(rows) == 10
    assert {row.verdict for row in rows} == {"shown only"}
    assert rows[0].ratio == pytest.approx(rows[0].value / 3.56)


OTHER = {**REFERENCE.model_dump(), "metrics": {"other": 1.0}}
ENDLESS = {**REFERENCE.model_dump(), "metrics": {"mean_ttft_ms": float("inf")}}


@pytest.mark.parametrize(
    "text",
    [
        *("", "a: 1", "- 1", "{", '{"asked": 1}', "[" * 100_000),
        *(yaml.safe_dump(OTHER), yaml.safe_dump(ENDLESS)),
    ],
)
def test_what_is_no_baseline_is_said(text: str, tmp_path: Path) -> None:
    for name in ("b.yaml", "b.json"):
        (tmp_path / name).write_text(text)
        with pytest.raises(CouldNotRun, match="is no baseline"):
            baseline.read(tmp_path / name)


def test_an_earlier_result_is_a_baseline(tmp_path: Path) -> None:
    result = measure(4, 99)
    path = tmp_path / "benchmark.json"
    path.write_text(text(result))
    known = baseline.read(path)

    assert baseline.same_load(result.asked, known)
    rows = baseline.compare(result.metrics, known, same_device=True)
    luck = {row.metric for row in rows if row.verdict == "shown only"}
    assert luck == {"p99_ttft_ms", "p99_tpot_ms"}  # of 400 requests
    assert {row.verdict for row in rows if row.metric not in luck} == {"same"}
    more = measure(4, 99, count=662)
    rows = baseline.compare(more.metrics, known, same_device=True)
    assert "shown only" not in {row.verdict for row in rows}


def test_a_slower_server_fails_against_an_earlier_run_and_a_faster_one_never(
    tmp_path: Path,
) -> None:
    earlier = tmp_path / "earlier"
    run(Profile(ttft=0.05, tpot=0.01), earlier)
    words = ("--baseline", str(earlier / "benchmark.json"))

    assert run(Profile(ttft=0.15, tpot=0.03), tmp_path, *words) == 1
    page = (tmp_path / "benchmark.html").read_text(encoding="utf-8")
    assert "<td>slower</td>" in page
    assert page.count("<svg") == 3
    verdicts = baseline.compare(
        measure(4, 99, slow=0.2).metrics,
        REFERENCE.model_copy(update={"metrics": summaries_of(1.0)}),
        same_device=True,
    )
    assert "slower" not in {row.verdict for row in verdicts}


def test_servers_take_turns_and_the_order_changes() -> None:
    order: list[str] = []
    result = measure(4, 99)

    def of(name: str) -> against.Measure:
        return lambda: order.append(name) or result  # type: ignore[func-returns-value]

    pairs = list(against.by_turns(of("a"), of("b"), rounds=4))

    assert "".join(order) == "abbaabba"
    assert len(pairs) == 4


@pytest.mark.parametrize(("slow", "regressed"), [(1.0, False), (1.3, True), (0.7, False)])
def test_only_a_slower_server_is_a_regression(slow: float, *, regressed: bool) -> None:
    ours = [measure(4, 99, slow=slow, noise=0.05, seed=i) for i in range(8)]
    theirs = [measure(4, 99, noise=0.05, seed=i + 50) for i in range(8)]
    found = {row.metric: row for row in against.paired(ours, theirs)}

    assert found["median_tpot_ms"].regression is regressed
    assert found["median_tpot_ms"].ratio == pytest.approx(slow, rel=0.05)
    assert set(found) == {
        "output_throughput",
        *("mean_ttft_ms", "median_ttft_ms", "mean_tpot_ms", "median_tpot_ms"),
    }


def test_two_rounds_bound_nothing_and_so_accuse_nobody() -> None:
    slow, fast = [measure(4, 99, slow=3)] * 2, [measure(4, 99)] * 2

    assert not any(row.regression for row in against.paired(slow, fast))


def test_the_command_measures_two_servers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(Profile(ttft=0.01, tpot=0.002)) as other:
        words = ("--against", other.url, "--rounds", "4")
        code = run(Profile(ttft=0.03, tpot=0.006), tmp_path, *words)

    assert code == 1
    assert "slower" in capsys.readouterr().out
    kept = against.Against.model_validate_json((tmp_path / "against.json").read_text())
    assert len(kept.pairs) == 4
    assert kept.theirs == other.url
    for name in ("against.md", "against.html"):
        page = (tmp_path / name).read_text(encoding="utf-8")
        assert "slower" in page
        assert "4 of 4 rounds" in page


def test_ctrl_c_keeps_the_rounds_that_are_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = measure(4, 99)
    runs = iter([result] * 3)

    def until_ctrl_c(*_: object) -> Benchmark:
        if (found := next(runs, None)) is None:
            raise Stopped(result)
        return found

    monkeypatch.setattr(turns, "benchmark", until_ctrl_c)
    with serve(Profile()) as other:
        code = run(Profile(), tmp_path, "--against", other.url)

    assert code == 2
    kept = against.Against.model_validate_json((tmp_path / "against.json").read_text())
    assert (len(kept.pairs), kept.rounds) == (1, 8)
    assert "1 of 8 rounds" in (tmp_path / "against.md").read_text(encoding="utf-8")


def test_the_reference_is_shown_for_its_load_alone(tmp_path: Path) -> None:
    """The demo model has no reference, and another load is not compared."""
    run(Profile(), tmp_path)
    kept = json.loads((tmp_path / "benchmark.json").read_text())
    page = (tmp_path / "benchmark.md").read_text(encoding="utf-8")

    assert kept["metrics"]["completed"] == 16
    assert "baseline" not in page
    assert not baseline.same_load(measure(4, 99).asked, REFERENCE)


def base_point(model: str) -> Benchmark:
    """Give a run that says it had the reference's load."""
    result = measure(4, 99)
    asked = result.asked.model_copy(
        update={**REFERENCE.load.model_dump(), "model": model}
    )
    return result.model_copy(update={"asked": asked})


@pytest.mark.parametrize(
    ("model", "on_card", "judged"),
    [
        ("qwen-1_8b-chat", True, True),
        ("qwen-1_8b-chat", False, False),
        ("smollm2-135m-instruct", False, False),
        ("smollm2-135m-instruct", True, False),
    ],
)
def test_the_reference_judges_its_own_model_on_a_card_and_no_other(
    model: str, *, on_card: bool, judged: bool
) -> None:
    found = reference(base_point(model), MODELS / model, on_card=on_card)

    assert found
    assert "qwen-1_8b-chat on one Ascend 910 card" in found.title
    verdicts = {row.verdict for row in found.rows if "p99" not in row.metric}
    assert ("shown only" in verdicts) is not judged


def test_a_baseline_of_another_load_is_refused(tmp_path: Path) -> None:
    words = ("--baseline", str(MODELS / "qwen-1_8b-chat/baseline.yaml"))

    assert run(Profile(), tmp_path, *words) == 2
    assert not (tmp_path / "benchmark.json").exists()  # before the run


@pytest.mark.parametrize(
    "other",
    [{"concurrency": 8}, {"input_len_range": 0.5}, {"chats": 3}, {"turns": 2}],
)
def test_a_load_has_all_that_shapes_it(other: dict[str, float], tmp_path: Path) -> None:
    plain = measure(4, 99)
    asked = plain.asked.model_copy(update=other)
    path = tmp_path / "benchmark.json"
    path.write_text(text(plain.model_copy(update={"asked": asked})))

    assert baseline.same_load(asked, baseline.read(path))
    assert not baseline.same_load(plain.asked, baseline.read(path))


def test_a_run_is_never_its_own_baseline(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The earlier result lies where the new one is written to."""
    run(Profile(ttft=0.02), tmp_path)
    words = ("--baseline", str(tmp_path / "benchmark.json"))

    assert run(Profile(ttft=0.15), tmp_path, *words) == 1
    assert "slower" in capsys.readouterr().out


def test_what_has_no_tpot_is_compared_without() -> None:
    tpot = {"tpot_ms": None}
    result = measure(4, 99)
    one = result.model_copy(update={"metrics": result.metrics.model_copy(update=tpot)})
    known = REFERENCE.model_copy(update={"metrics": summaries_of(1.0)})
    alone = baseline.compare(one.metrics, known, same_device=True)

    assert not [row.metric for row in alone if "tpot" in row.metric]
    assert not [
        row.metric
        for row in against.paired([one] * 4, [result] * 4)
        if "tpot" in row.metric
    ]
