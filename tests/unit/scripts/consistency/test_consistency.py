"""Where two runs part, of what kind that is, and which gate goes red."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bundle.errors import CouldNotRun, run_command
from bundle.model import Consistency as Limits
from bundle.model import Question
from scripts.consistency.__main__ import main
from scripts.consistency.compare import compare
from scripts.consistency.record import Recording, Reply, read
from scripts.consistency.result import Consistency, consistency
from scripts.consistency.similarity import similarities
from scripts.consistency.table import table
from scripts.grade import grade
from tests.fixtures.known_server import Profile, serve

if TYPE_CHECKING:
    from pathlib import Path

MODEL = "smollm2-135m-instruct"
LIMITS = Limits(near_tie_nat=0.1, unexplained=0, device_only_errors=0)
QUESTION = Question(ask="Capital of China?", any_of=("beijing",), language="en")
END = 2


def reply(
    ids: tuple[int, ...],
    text: str = "Beijing",
    second: float = -4.0,
    prompt: tuple[int, ...] = (1,),
    rank: int = 0,
) -> Reply:
    """Give a reply whose tokens have log-probability -0.1 and one alternative, 99.

    With `rank` 1 the alternative is the likelier one.
    """
    likely, other = (-0.1, second) if rank == 0 else (second, -0.1)
    return Reply(
        question=QUESTION,
        text=text,
        finish_reason="stop" if ids[-1] == END else "length",
        prompt_ids=prompt,
        ids=ids,
        positions=tuple(
            tuple(
                sorted(
                    ((n, likely), (98 if n == 99 else 99, other)), key=lambda one: -one[1]
                )
            )
            for n in ids
        ),
        verdict=grade(text, QUESTION),
    )


def recording(*replies: Reply) -> Recording:
    return Recording(model=MODEL, server="s", engine=None, max_tokens=9, replies=replies)


def judged(reference: Reply, candidate: Reply) -> Consistency:
    return consistency(recording(reference), recording(candidate), LIMITS)


def red(result: Consistency) -> list[str]:
    """Give the names of the gates that are not passed."""
    return [gate.name for gate in result.gates if not gate.passed]


def test_the_same_tokens_are_exact_and_green() -> None:
    result = judged(reply((5, 6, END)), reply((5, 6, END)))

    assert (result.exact.count, result.exact.total, red(result)) == (1, 1, [])
    assert result.consistent.count == 1


def test_a_near_tie_is_no_fault() -> None:
    result = judged(reply((5, 6, END), second=-0.15), reply((5, 99, END)))

    assert result.pairs[0].divergence
    assert result.pairs[0].divergence.position == 1
    assert result.pairs[0].divergence.margin == pytest.approx(0.05)
    assert (result.near_ties, red(result)) == (1, [])


@pytest.mark.parametrize("token", [99, 7])
def test_a_divergence_against_a_clear_choice_is_unexplained(token: int) -> None:
    """Also where the candidate's token is not among the reference's alternatives."""
    result = judged(reply((5, 6, END), second=-3.0), reply((5, token, END)))

    assert red(result) == ["divergences explained by near ties"]
    assert result.pairs[0].divergence
    assert result.pairs[0].divergence.at_least == (token == 7)


def test_a_token_outside_the_alternatives_is_no_near_tie() -> None:
    result = judged(reply((5, 6, END), second=-0.15), reply((5, 7, END)))

    assert red(result) == ["divergences explained by near ties"]


def test_a_wrong_chat_template_is_named() -> None:
    result = judged(reply((5, END)), reply((5, END), prompt=(1, 1)))

    assert red(result) == ["prompt tokens: chat template and tokenizer"]


def test_a_missing_stop_token_is_named() -> None:
    result = judged(reply((5, END)), reply((5, END, 8, 9)))

    assert red(result) == ["stops where the reference stops"]


def test_a_repetition_penalty_is_named() -> None:
    result = judged(reply((5, END)), reply((5, END), rank=1))

    assert red(result) == ["likeliest token chosen: no penalty, no sampling"]


def test_an_error_here_and_not_there_is_named_and_tested() -> None:
    right, wrong = reply((5, END)), reply((99, END), "Shanghai")
    reference = recording(*[reply((5, END), second=-0.15)] * 6)
    result = consistency(reference, recording(*[wrong] * 5, right), LIMITS)

    assert red(result) == ["no errors of this device only"]
    assert (result.device_only_errors, result.reference_only_errors) == (5, 0)
    assert result.mcnemar_p == pytest.approx(2 / 2**5)
    assert (result.wrong.count, result.wrong.total) == (5, 6)


def test_consistent_is_exact_or_the_same_verdict_and_alike() -> None:
    reference, candidate = reply((5, END)), reply((99, END))

    assert compare(reference, candidate, 0.1, 0.81).consistent
    assert not compare(reference, candidate, 0.1, 0.79).consistent
    assert compare(reference, candidate, 0.1, None).consistent
    assert not compare(reference, reply((99, END), "Shanghai"), 0.1, 0.95).consistent


def test_without_the_package_the_rate_has_another_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("scripts.consistency.similarity.installed", lambda: False)
    shown = table(judged(reply((5, END)), reply((99, END))))

    assert "semantically alike      not shown" in shown
    assert "exact or same verdict" in shown
    assert "overall consistency" not in shown


def test_similarity_is_high_for_the_same_and_low_for_another_matter() -> None:
    alike, other = similarities(
        [
            ("The capital is Beijing.", "Beijing is the capital."),
            ("The capital is Beijing.", "A spider has eight legs."),
        ]
    ) or [0.0, 0.0]

    assert alike > 0.8
    assert other < 0.5


def test_the_table_has_the_reference_runs_rows() -> None:
    shown = table(judged(reply((5, END)), reply((99, END))))

    for row in ("exact match", "semantically alike", "overall consistency"):
        assert f"  {row}" in shown
    assert "factual error rate" in shown
    assert "unexplained at token 0" in shown


def run(url: str, *words: str) -> int:
    environ = {"BUNDLE_MODEL": MODEL, "BUNDLE_SERVER_URL": url}
    return run_command(lambda: main(words, environ))


def test_a_server_without_token_ids_is_exit_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(Profile()) as known:
        code = run(known.url, "--record", str(tmp_path / "run.json"))

    assert code == 2
    assert "gives no token ids" in capsys.readouterr().err


def test_a_file_that_is_no_recording_is_exit_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run.json").write_text("{}")
    with serve(Profile()) as known:
        words = ("--recorded", str(tmp_path / "run.json"), "--out", str(tmp_path))
        code = run(known.url, *words)

    assert code == 2
    assert "is no recording" in capsys.readouterr().err


def test_a_recording_of_another_model_is_refused(tmp_path: Path) -> None:
    made = recording(reply((5, END)))
    (tmp_path / "run.json").write_text(made.model_dump_json())

    assert read(tmp_path / "run.json", MODEL) == made
    with pytest.raises(Exception, match=f"recorded of {MODEL}, not of other"):
        read(tmp_path / "run.json", "other")


def test_a_recording_without_answers_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(recording().model_dump_json())

    with pytest.raises(CouldNotRun, match="holds no answers"):
        read(tmp_path / "run.json", MODEL)


def test_one_way_must_be_chosen() -> None:
    assert run("http://127.0.0.1:9") == 64
