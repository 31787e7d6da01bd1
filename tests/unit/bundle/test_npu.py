"""The family of a card, from what npu-smi prints."""

from __future__ import annotations

import pytest

from bundle import npu
from bundle.errors import HostNotReady
from tests.fixtures.npu import SAMPLES, npu_smi_says


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("910B3", "atlas-a2"),
        ("910B2C", "atlas-a2"),
        ("910B4-1", "atlas-a2"),
        ("Ascend910", "atlas-a3"),
        ("310P3", "atlas-310p"),
    ],
)
def test_a_chip_name_gives_its_family(name: str, family: str) -> None:
    assert npu.family(lambda: npu_smi_says(name)) == family


def test_the_950_has_a_column_more() -> None:
    text = (SAMPLES / "950dt-25.6.rc1.txt").read_text()

    assert npu.family(lambda: text) == "atlas-a5"


@pytest.mark.parametrize("name", ["910B", "310B4", "999X"])
def test_an_unsupported_chip_is_refused_by_name(name: str) -> None:
    with pytest.raises(HostNotReady, match=f"chip '{name}'"):
        npu.family(lambda: npu_smi_says(name))


def test_an_error_instead_of_a_table_is_shown() -> None:
    with pytest.raises(HostNotReady, match="-8005"):
        npu.family(lambda: "dcmi module initialize failed. ret is -8005\n")


def test_no_output_is_no_family() -> None:
    with pytest.raises(HostNotReady, match="nothing"):
        npu.family(lambda: "")
