"""What the exporter finds in the file: the chips, or why there are none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bundle.errors import HostNotReady, Problem
from entrypoint.npu_readings import write
from tests.fixtures.npu import SAMPLES

if TYPE_CHECKING:
    from pathlib import Path


def written(folder: Path) -> dict[str, Any]:
    """Read the file, which must be the only one."""
    assert [path.name for path in folder.iterdir()] == ["npu.json"]
    found: dict[str, Any] = json.loads((folder / "npu.json").read_text())
    return found


def test_chips_are_written_with_the_time(tmp_path: Path) -> None:
    sample = SAMPLES / "310p3-25.3.rc1-idle.txt"

    write(tmp_path / "r", sample.read_text, lambda: 1234.5)

    found = written(tmp_path / "r")
    assert (found["time"], found["problem"]) == (1234.5, None)
    assert found["chips"][0]["name"] == "310P3"
    assert found["chips"][0]["power_watts"] is None


def test_a_card_that_hangs_is_a_reading_too(tmp_path: Path) -> None:
    def hangs() -> str:
        raise HostNotReady(Problem("npu-smi info gave no answer within 5 s", "reset"))

    write(tmp_path, (SAMPLES / "310p3-25.3.rc1-idle.txt").read_text)
    write(tmp_path, hangs)

    found = written(tmp_path)
    assert found["problem"] == "npu-smi info gave no answer within 5 s"
    assert found["chips"] == []
