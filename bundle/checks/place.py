"""Where a start listens and writes, and what the CPU engine compiles with."""

from __future__ import annotations

from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from bundle import host, toolchain
from bundle.checks.finding import Check, Finding, failure, ok
from bundle.settings import EXPORTER_PORT, SERVER_PORT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bundle.checks.start import Start

_PROBE_BYTES = 1 << 20  # a full disk may still take a small file


def _ports(start: Start) -> Iterator[Finding]:
    if start.is_up:
        yield ok(f"a server is up at {start.settings.server_url}")
        return
    ports = [SERVER_PORT, *([EXPORTER_PORT] if start.settings.supervise_exporter else [])]
    for port in ports:
        where = f"port {port} on {start.settings.listen_address}"
        reason = host.bind_error(start.settings.listen_address, port)
        if reason == host.TAKEN:
            remedy = f"end what listens there (`ss -ltnp 'sport = :{port}'` names it)"
            yield failure(f"{where}: {reason}", remedy)
        elif reason:
            remedy = "set BUNDLE_LISTEN_ADDRESS to an address of this host, or unset it"
            yield failure(f"{where}: {reason}", remedy)
        else:
            yield ok(f"{where} is free")


def _toolchain(start: Start) -> Iterator[Finding]:
    if start.has_npu:
        return
    problems = toolchain.problems(toolchain.ENGINE)
    for problem in problems:
        yield failure(problem.what, problem.remedy)
    if not problems:
        yield ok("libnuma, C++ compiler and Python's headers")


def _folders(start: Start) -> Iterator[Finding]:
    yield from _writable("BUNDLE_RUN_DIR", start.settings.run_dir)
    if cache := start.environ.get("VLLM_CACHE_ROOT"):
        yield from _writable("VLLM_CACHE_ROOT", Path(cache).expanduser())  # as vLLM does


def _writable(name: str, folder: Path) -> Iterator[Finding]:
    """Write what a full disk or a folder of others would not take."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=folder, prefix=".writable-") as probe:
            probe.write(bytes(_PROBE_BYTES))
            probe.flush()
    except OSError as error:
        yield failure(
            f"{name}={str(folder)!r} cannot be written: {error.strerror}",
            "free its disk, or set it to a folder that this user can write",
        )
    else:
        yield ok(f"{name}={str(folder)!r} can be written")


CHECKS = (
    Check("ports", _ports),
    Check("toolchain", _toolchain),
    Check("folders", _folders),
)
