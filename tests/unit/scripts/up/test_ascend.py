"""A host with an NPU: what is found is written once, and the operator's values win."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bundle.errors import CouldNotRun, HostNotReady
from scripts.up.ascend import compose_up, detect, note, up
from tests.fixtures.npu import npu_smi_says

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Give a host with cards 2 and 10, and npu-smi where some drivers put it."""
    for path in ("dev/davinci10", "dev/davinci2", "dev/davinci_manager"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).touch()
    (tmp_path / "usr/local/sbin").mkdir(parents=True)
    (tmp_path / "usr/local/sbin/npu-smi").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("name", "suffix"),
    [("910B3", ""), ("Ascend910", "-a3"), ("310P3", "-310p")],
)
def test_family_card_and_npu_smi_are_found(root: Path, name: str, suffix: str) -> None:
    assert detect(root, lambda: npu_smi_says(name)) == {
        "FAMILY_SUFFIX": suffix,
        "NPU_DEVICE": "/dev/davinci2",
        "NPU_SMI": "/usr/local/sbin/npu-smi",
    }


def test_an_unsupported_card_is_refused(root: Path) -> None:
    with pytest.raises(HostNotReady, match="chip '910B'"):
        detect(root, lambda: npu_smi_says("910B"))


def test_a_manager_without_cards_is_refused(root: Path) -> None:
    for card in root.glob("dev/davinci[0-9]*"):
        card.unlink()

    with pytest.raises(HostNotReady, match="no card"):
        detect(root, lambda: npu_smi_says("910B3"))


def test_what_is_found_is_added_once(tmp_path: Path) -> None:
    env = tmp_path / ".env"

    assert note(env, {"A": "1", "B": "2"}) == {"A": "1", "B": "2"}
    assert note(env, {"A": "3", "B": "2"}) == {}
    assert env.read_text() == "A=1\nB=2\n"


def test_the_operators_lines_stay_and_win(tmp_path: Path) -> None:
    env = tmp_path / ".env"
    env.write_text("# mine\nexport A=9\n#B=7")

    assert note(env, {"A": "1", "B": "2"}) == {"B": "2"}
    assert env.read_text() == "# mine\nexport A=9\n#B=7\nB=2\n"


def test_the_command_is_shown_and_its_success_is_ours(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert compose_up(["true"]) == 0
    assert capsys.readouterr().out == "  $ true\n"


def test_a_stack_that_does_not_come_up_is_exit_2() -> None:
    with pytest.raises(CouldNotRun, match=r"false failed \(exit 1\)"):
        compose_up(["false"])


def test_a_host_without_docker_is_not_ready(root: Path, tmp_path: Path) -> None:
    with pytest.raises(HostNotReady, match="no-such-docker does not run"):
        up(tmp_path / ".env", root, lambda: npu_smi_says("910B3"), ["no-such-docker"])
