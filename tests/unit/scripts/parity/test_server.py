"""`--server` from end to end: a server whose distributions are set, and a golden file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from bundle.api import Server, ServerError
from bundle.errors import run_command
from bundle.served_by import FILE, ServedBy
from scripts.parity import golden, metrics, score
from scripts.parity.__main__ import main
from scripts.parity.result import Result
from tests.fixtures.known_server import Profile, serve

if TYPE_CHECKING:
    from pathlib import Path

MODEL, SHA256 = "smollm2-135m-instruct", "a" * 64
PASSAGE = (4, 5, 6, 7)
Places = list[Any]


def reference() -> metrics.Array:
    """Give three positions' log-probabilities over 100 tokens."""
    logits = np.random.default_rng(1).normal(0, 3, (3, 100))
    return metrics.renormalise(logits - np.log(np.exp(logits).sum(1, keepdims=True)))


def recorded(folder: Path) -> Path:
    """Write a golden file of the reference, its noise floor being itself."""
    p, following = reference(), np.array(PASSAGE[1:])
    floor = score.figures(score.full(p, p, following), None)
    about = golden.About(
        weights_sha256=SHA256, dtype="bfloat16", versions={}, floor=floor
    )
    top = score.top(p, following)
    return golden.save(golden.Golden(about, (PASSAGE,), top, np.ones((4, 2))), folder)


def said(logs: metrics.Array) -> Places:
    """Give the top 20 of each position, and the token that came, as vLLM 0.23 does."""
    return [None, *map(_place, logs, PASSAGE[1:])]


def _place(logs: metrics.Array, came: int) -> dict[str, dict[str, float]]:
    order = np.argsort(-logs)
    ranks = np.argsort(order) + 1
    return {
        str(n): {"logprob": float(logs[n]), "rank": int(ranks[n])}
        for n in [came, *order[:20]]
    }


def compare(folder: Path, places: Places) -> int:
    """Run the command against a server that says `places`."""
    note = ServedBy(
        family="cpu", packages={}, cann=None, manifest_sha256=SHA256, command="vllm serve"
    )
    (folder / FILE).parent.mkdir(parents=True)
    (folder / FILE).write_text(note.model_dump_json())
    file = str(recorded(folder))
    with serve(Profile(prompt_logprobs=places)) as known:
        words = ("--golden", file, "--server", known.url, "--out", str(folder))
        environ = {
            "BUNDLE_MODEL": MODEL,
            "BUNDLE_RUN_DIR": str(folder),
            "BUNDLE_WEIGHTS_DIR": str(folder / "none"),
        }
        return run_command(lambda: main(words, environ))


def test_the_reference_itself_passes(tmp_path: Path) -> None:
    assert compare(tmp_path, said(reference())) == 0

    result = Result.model_validate_json((tmp_path / "parity.json").read_text())
    assert result.form == "server"
    assert result.weights_sha256 == SHA256
    assert result.figures.positions == 3
    assert abs(result.figures.kl.mean) < 1e-6


def test_another_distribution_is_red_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The server's tokens are those of the reference, off by one."""
    assert compare(tmp_path, said(np.roll(reference(), 1, axis=1))) == 1

    result = Result.model_validate_json((tmp_path / "parity.json").read_text())
    red = {row.name for row in result.rows if not row.passed}
    assert any("KL" in name for name in red)
    assert any("top-1" in name for name in red)
    printed = capsys.readouterr().out
    assert all(name in printed for name in red)


def _broken() -> dict[str, Places]:
    good = said(reference())
    chosen = {"5": {"logprob": -1.0, "rank": 3}}
    return {
        "none": [],
        "fewer": good[:-1],
        "more": [*good, good[-1]],
        "null within": [*good[:-1], None],
        "no first rank": [*good[:1], chosen, *good[2:]],
        "not the token that came": [
            *good[:1],
            {"9": {"logprob": -1.0, "rank": 1}},
            *good[2:],
        ],
        "no rank": [*good[:1], {"5": {"logprob": -1.0}}, *good[2:]],
        "words": [*good[:1], {"Beijing": {"logprob": -1.0, "rank": 1}}, *good[2:]],
    }


@pytest.mark.parametrize("kind", _broken())
def test_an_answer_of_another_form_is_exit_2_and_no_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    assert compare(tmp_path, _broken()[kind]) == 2
    assert "gives no OpenAI answer" in capsys.readouterr().err
    assert not (tmp_path / "parity.json").exists()


def test_the_client_asks_for_the_prompts_own_tokens_once() -> None:
    places = said(reference())
    with serve(Profile(prompt_logprobs=places)) as known:
        found = Server(known.url).prompt_logprobs(MODEL, PASSAGE, 20)

    assert found == places[1:]
    (body,) = known.completions
    assert (body["prompt"], body["prompt_logprobs"]) == (list(PASSAGE), 20)
    assert (body["max_tokens"], body["temperature"]) == (1, 0)


def test_a_server_that_gives_none_is_named() -> None:
    with (
        serve(Profile()) as known,
        pytest.raises(ServerError, match="gives no OpenAI answer"),
    ):
        Server(known.url).prompt_logprobs(MODEL, PASSAGE, 20)
