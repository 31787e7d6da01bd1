"""The note of what is started: what the report tells of the server beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bundle import manifest
from bundle.checks.start import Start
from bundle.model import load_model
from bundle.note import read_note
from bundle.served_by import FILE, ServedBy
from bundle.settings import load
from entrypoint.served import note

if TYPE_CHECKING:
    from pathlib import Path

INFO = "usr/local/Ascend/ascend-toolkit/latest/x86_64-linux/ascend_toolkit_install.info"


def start(folder: Path) -> Start:
    """Give a start on a card whose engine says what it is made of."""
    settings = load(
        {"BUNDLE_RUN_DIR": str(folder / "run"), "BUNDLE_WEIGHTS_DIR": str(folder)}
    )
    return Start(
        {},
        folder,
        lambda _: '{"vllm-ascend": "0.23.0.post1"}',
        settings=settings,
        model=load_model(settings.models_dir, settings.model),
        family="atlas-a2",
    )


def test_the_note_tells_engine_cann_weights_and_command(tmp_path: Path) -> None:
    given = start(tmp_path)
    (tmp_path / INFO).parent.mkdir(parents=True)
    (tmp_path / INFO).write_text("package_name=x\nversion=9.1.0\n")
    given.weights.mkdir(parents=True)
    (given.weights / "config.json").write_text("{}")
    manifest.write(given.weights, {"id": "made"})
    given.settings.run_dir.mkdir()
    note(given)
    found = read_note(given.settings.run_dir / FILE, ServedBy)

    assert found
    assert found.packages == {"vllm-ascend": "0.23.0.post1"}
    assert (found.family, found.cann) == ("atlas-a2", "9.1.0")
    assert found.manifest_sha256 == manifest.sha256(given.weights / manifest.MANIFEST)
    assert f"--model {given.weights} " in found.command


def test_a_run_folder_that_takes_nothing_is_no_reason_not_to_start(
    tmp_path: Path,
) -> None:
    given = start(tmp_path)
    given.settings.run_dir.write_text("a file where the folder should be")

    note(given)

    assert given.settings.run_dir.is_file()
