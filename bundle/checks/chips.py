"""What npu-smi tells of the chips; nothing is good that it did not tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bundle.checks.finding import Check, Finding, failure, ok, unknown, warning
from bundle.npu import family_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bundle.checks.world import World
    from bundle.npu_smi import Chip

# npu-smi's own numbers; vllm-ascend #1440, #2698, Ascend/cann-container-image #46.
CODES = {
    "-8005": ("another container holds the card, or this user may not ask", "stop it"),
    "-8020": ("another container has the card for itself", "stop that container"),
}
_LOOK = "look at `npu-smi info` yourself"


def _npu_smi(world: World) -> Iterator[Finding]:
    if not world.has_npu:
        return
    said = world.npu_smi
    if isinstance(said, str):
        yield failure(
            said, "install the driver, or mount npu-smi here; reset a hung card"
        )
    elif said.chips and said.problem:
        yield unknown(f"npu-smi: {said.problem}", "report this release's output")
    elif said.chips and len(said.chips) < len(world.cards):
        what = f"npu-smi lists {len(said.chips)} chips of {len(world.cards)} cards"
        yield warning(what, "see `dmesg`: a card that is lost needs a reset")
    elif said.chips:
        yield ok(f"npu-smi {said.driver_version or '(?)'}, {len(said.chips)} chips")
    else:
        known = [CODES[code] for code in CODES if f"ret is {code}" in str(said.problem)]
        cause, remedy = known[0] if known else ("", "see that it works on the host")
        yield failure(f"npu-smi: {said.problem}{cause and f' ({cause})'}", remedy)


def _npu_family(world: World) -> Iterator[Finding]:
    for name in sorted({chip.name for chip in _chips(world)}):
        family = family_of(name)
        if family:
            yield ok(f"{name} is {family}")
        else:
            remedy = "use Atlas A2, A3, 300I Duo (310P) or 950; or set BUNDLE_DEVICE=cpu"
            yield failure(f"chip {name!r} is of no supported family", remedy)


def _npu_health(world: World) -> Iterator[Finding]:
    for chip in _chips(world):
        where = f"card {chip.npu} chip {chip.chip}"
        if chip.health is None:
            yield unknown(f"{where} tells no health", _LOOK)
        elif chip.health == "Warning":
            yield warning(f"{where} is in {chip.health}", "read `npu-smi info -t health`")
        elif chip.health != "OK":
            yield failure(f"{where} is in {chip.health}", "reset or replace the card")
    if _chips(world) and all(chip.health == "OK" for chip in _chips(world)):
        yield _unread(world) or ok("every chip says OK")


def _npu_holders(world: World) -> Iterator[Finding]:
    """vllm-ascend #9888: an engine that outlived its container keeps the memory."""
    held = [(chip, process) for chip in _chips(world) for process in chip.processes]
    for chip, process in held:
        name = process.name or "a process of another container"
        what = f"card {chip.npu} chip {chip.chip} is held by {process.pid} ({name})"
        yield warning(what, "end it before the start, unless it is this server")
    said = world.npu_smi
    if held or not _chips(world) or isinstance(said, str):
        return
    if said.silent_npus:
        what = (
            f"npu-smi tells no processes of NPU {', '.join(map(str, said.silent_npus))}"
        )
        yield unknown(what, _LOOK)
    else:
        yield _unread(world) or ok("npu-smi names no process that holds a chip")


def _unread(world: World) -> Finding | None:
    """Say that a part of the table is not known, so that nothing holds for all of it."""
    said = world.npu_smi
    if isinstance(said, str) or not said.problem:
        return None
    return unknown(f"npu-smi: {said.problem}", _LOOK)


def _chips(world: World) -> tuple[Chip, ...]:
    if not world.has_npu or isinstance(world.npu_smi, str):
        return ()
    return world.npu_smi.chips


CHECKS = (
    Check("npu-smi", _npu_smi),
    Check("npu-family", _npu_family),
    Check("npu-health", _npu_health),
    Check("npu-holders", _npu_holders),
)
