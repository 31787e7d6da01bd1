"""What the NPUs of this machine are, from `npu-smi info`.

`model.yaml` chooses dtype and flags by the family.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bundle.command import ask
from bundle.errors import HostNotReady, Problem
from bundle.npu_smi import parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from bundle.model import Family

# Chip names as `npu-smi info` prints them, and the family that vllm-ascend builds for.
# A plain 910B is the first 910 (910A cards print so), which vllm-ascend does not support.
_FAMILIES: tuple[tuple[str, Family], ...] = (
    (r"910B\d[\w-]*", "atlas-a2"),
    (r"Ascend910(_93\d\d)?", "atlas-a3"),
    (r"310P\d", "atlas-310p"),
    (r"Ascend950\w*", "atlas-a5"),
)


def npu_smi() -> str:
    """Text of `npu-smi info`; raises `HostNotReady` if it gives none."""
    try:
        return ask(["npu-smi", "info"])
    except TimeoutError as error:
        what, remedy = f"npu-smi info gave {error}", "reset the card or the host's driver"
        raise HostNotReady(Problem(what, remedy)) from error
    except OSError as error:
        what = f"npu-smi does not run: {error.strerror}"
        remedy = "install the Ascend driver, or mount the host's npu-smi here"
        raise HostNotReady(Problem(what, remedy)) from error


def family_of(name: str) -> Family | None:
    """Give the family of a chip by its name; None for one that is not supported."""
    for pattern, found in _FAMILIES:
        if re.fullmatch(pattern, name):
            return found
    return None


def family(read: Callable[[], str] = npu_smi) -> Family:
    """Device family of the first chip; raises `HostNotReady` if it is not supported."""
    readings = parse(read())
    names = [chip.name for chip in readings.chips]
    if names and (found := family_of(names[0])):
        return found
    if not names:
        raise HostNotReady(
            Problem(
                f"npu-smi info: {readings.problem}",
                "end what holds the card, and see that npu-smi works on the host",
            )
        )
    raise HostNotReady(
        Problem(
            f"chip {names[0]!r} is of no supported family",
            "use Atlas A2, A3, 300I Duo (310P) or 950; or set BUNDLE_DEVICE=cpu",
        )
    )
