"""`make up` on a host with an NPU: find what Compose must know, then let it run."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from bundle import npu
from bundle.errors import CouldNotRun, ExitCode, HostNotReady, Problem, raise_all
from scripts import compose
from scripts.up import stack
from scripts.up.place import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# Which image of vLLM-Ascend is built for a family.
SUFFIXES = {"atlas-a2": "", "atlas-a3": "-a3", "atlas-310p": "-310p", "atlas-a5": "-a5"}
NPU_SMI_PLACES = ("usr/local/bin/npu-smi", "usr/local/sbin/npu-smi")


def up(
    env_file: Path = ROOT / ".env",
    root: Path = Path("/"),
    npu_smi: Callable[[], str] = npu.npu_smi,
    command: Sequence[str] = compose.COMMAND,
) -> int:
    """Note what is found in `.env`, where the operator's values win, and start."""
    print("this host has an NPU (/dev/davinci_manager); the bundle runs in Docker")
    added = note(env_file, detect(root, npu_smi))
    for name, value in added.items():
        print(f"  found {name}={value}, written to {env_file}")
    compose.check(command)
    if not compose.output(*command, "ps", "--quiet", remedy="see what it says"):
        services = compose.config(command)["services"]
        raise_all(HostNotReady, stack.problems(services, root))
    return compose_up([*command, "up", "--detach", "--wait"])


def detect(
    root: Path = Path("/"), npu_smi: Callable[[], str] = npu.npu_smi
) -> dict[str, str]:
    """Give the variables of compose.yaml that depend on this host.

    Raises:
        HostNotReady: no card, or one that vLLM-Ascend does not support.
    """
    family = npu.family(npu_smi)
    places = [place for place in NPU_SMI_PLACES if (root / place).is_file()]
    found = {"FAMILY_SUFFIX": SUFFIXES[family], "NPU_DEVICE": _first_card(root)}
    return {**found, "NPU_SMI": f"/{places[0]}"} if places else found


def note(env_file: Path, found: Mapping[str, str]) -> dict[str, str]:
    """Add to `env_file` what it does not set yet; give what was added."""
    text = env_file.read_text() if env_file.exists() else ""
    known = set(re.findall(r"^\s*(?:export\s+)?(\w+)=", text, re.MULTILINE))
    added = {name: value for name, value in found.items() if name not in known}
    lines = "".join(f"{name}={value}\n" for name, value in added.items())
    if lines:
        separator = "" if not text or text.endswith("\n") else "\n"
        env_file.write_text(f"{text}{separator}{lines}")
    return added


def compose_up(command: Sequence[str]) -> int:
    """Start the stack and wait until it is healthy.

    Raises:
        CouldNotRun: the stack did not come up; Compose has said why.
    """
    print("  $", " ".join(command), flush=True)
    if code := subprocess.run(command, cwd=ROOT, check=False).returncode:
        what = f"{' '.join(command)} failed (exit {code}); it says why above"
        raise CouldNotRun(Problem(what, "mend that, or read `docker compose logs`"))
    return ExitCode.GOOD


def _first_card(root: Path) -> str:
    """Lowest numbered card; the numbers may have gaps."""
    names = [path.name for path in (root / "dev").glob("davinci[0-9]*")]
    numbers = sorted(int(name.removeprefix("davinci")) for name in names)
    if not numbers:
        raise HostNotReady(
            Problem(
                "/dev/davinci_manager is there, but no card /dev/davinci0, 1, …",
                "see that `npu-smi info` lists a card on this host",
            )
        )
    return f"/dev/davinci{numbers[0]}"
