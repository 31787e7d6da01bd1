"""Golden files: what is read is what was saved, and only for the same weights."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bundle.errors import CouldNotRun
from scripts.parity import golden, http, metrics, score

if TYPE_CHECKING:
    from pathlib import Path

OURS, OTHERS = "a" * 64, "b" * 64


def made() -> tuple[golden.Golden, metrics.Array]:
    """Give a golden of one passage of four tokens, and the reference it is of."""
    logits = np.random.default_rng(1).normal(0, 3, (3, 100))
    p = metrics.renormalise(logits - np.log(np.exp(logits).sum(1, keepdims=True)))
    following = np.array([5, 6, 7])
    floor = score.figures(score.full(p, p, following), None)
    about = golden.About(weights_sha256=OURS, dtype="bfloat16", versions={}, floor=floor)
    top = score.top(p, following)
    return golden.Golden(about, ((4, 5, 6, 7),), top, np.ones((4, 2))), p


def test_what_is_read_is_what_was_saved(tmp_path: Path) -> None:
    saved, _ = made()

    read = golden.read(golden.save(saved, tmp_path), OURS)

    assert read.passages == saved.passages
    assert read.about == saved.about
    assert np.array_equal(read.top.ids, saved.top.ids)
    assert np.abs(read.top.logs - saved.top.logs).max() < 1e-6
    assert np.array_equal(read.states, saved.states)


def test_other_weights_and_changed_bytes_are_refused(tmp_path: Path) -> None:
    path = golden.save(made()[0], tmp_path)

    with pytest.raises(CouldNotRun, match="is of other weights"):
        golden.read(path, OTHERS)
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(CouldNotRun, match="is not what its name says"):
        golden.read(path, OURS)


def _kinds(good: bytes) -> dict[str, bytes]:
    stream = io.BytesIO()
    np.save(stream, np.ones(3))
    return {
        "empty": b"",
        "cut": good[: len(good) // 2],
        "text": b"golden",
        "npy": stream.getvalue(),
        "damaged": good.replace(good[200:210], bytes(10)),
    }


@pytest.mark.parametrize("kind", ["empty", "cut", "text", "npy", "damaged", "folder"])
def test_what_is_no_golden_file_is_refused_whatever_it_is(
    tmp_path: Path, kind: str
) -> None:
    """The file has been renamed, so its name promises nothing."""
    path = tmp_path / "mine.npz"
    if kind == "folder":
        path.mkdir()
    else:
        path.write_bytes(_kinds(golden.save(made()[0], tmp_path).read_bytes())[kind])

    with pytest.raises(CouldNotRun, match=r"mine\.npz cannot be read: ."):
        golden.read(path, OURS)


@pytest.mark.parametrize(("moved", "top_one"), [(0.0, 1), (4.0, 0)])
def test_a_servers_top_20_scores_its_position(moved: float, top_one: int) -> None:
    """The server likes token 9 by `moved` nats more than the reference does."""
    saved, p = made()
    raised = p[:1].copy()
    raised[0, 9] = p[0].max() + moved if moved else p[0, 9]
    q = raised - np.log(np.exp(raised).sum())
    best = [*np.argsort(-q[0])[:20], 5]
    ranks = np.argsort(np.argsort(-q[0])) + 1
    answer = {str(n): {"logprob": float(q[0, n]), "rank": int(ranks[n])} for n in best}

    found = http.position(saved.top, 0, answer, following=5)

    assert int(found.margins[0] == 0) == top_one
    assert -1e-9 <= found.kl[0] <= metrics.kl(p[:1], q)[0] + 1e-9
    assert (found.kl[0] > 0.1) == (moved > 0)
    assert found.candidate_losses == pytest.approx(-q[0, 5])
