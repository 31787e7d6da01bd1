"""vLLM's own computation gives the recorded numbers that ours are held against."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.fixtures.engine import ENGINE, ROOT

if TYPE_CHECKING:
    from pathlib import Path

FIXTURES = ROOT / "tests/fixtures"


@pytest.mark.parametrize("name", ["one-token-chunks", "many-token-chunks"])
def test_the_recording_is_what_the_installed_vllm_computes(
    name: str, tmp_path: Path
) -> None:
    """Make it anew: `vllm_calculate.py` on the recorded requests, engine's Python."""
    recorded, output = FIXTURES / f"vllm-bench/{name}.json", tmp_path / "metrics.json"
    subprocess.run(
        [ENGINE, FIXTURES / "vllm_calculate.py", recorded, output],
        env={**os.environ, "VLLM_NO_USAGE_STATS": "1"},
        check=True,
    )
    expected = json.loads(recorded.with_suffix(".metrics.json").read_text())

    assert expected == json.loads(output.read_text())
