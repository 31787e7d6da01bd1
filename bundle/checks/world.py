"""The machine as the checks see it; a test makes one of a folder and some text."""

from __future__ import annotations

import os
import re
import threading
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from bundle.command import ask
from bundle.npu_smi import Readings, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True)
class World:
    """Environment, root folder, a runner of commands, and who we are."""

    environ: Mapping[str, str]
    root: Path = Path("/")
    run: Callable[[Sequence[str]], str] = ask
    uid: int = os.getuid()
    is_up: bool = False  # a server that has its memory and its ports

    def path(self, name: str) -> Path:
        """Give an absolute path below the root folder."""
        return self.root / name.lstrip("/")

    def place(self, name: str) -> str:
        """Give what a path means to this process: relative, with `..` and links."""
        root, place = self.root.resolve(), self.path(str(Path.cwd() / name)).resolve()
        inside = place.is_relative_to(root)
        return str(Path("/") / place.relative_to(root) if inside else place)

    def file_system(self, place: str) -> str | None:
        """Give the type of the file system that an absolute path is on, if it is told."""
        kind, longest = None, -1
        for line in self.text("/proc/mounts").splitlines():
            words = [_unescaped(word) for word in line.split(" ")]
            above = words[1].rstrip("/") + "/" if len(words) > 2 else ""  # noqa: PLR2004 - source, folder, type
            # A later mount on the same folder hides the earlier one.
            if above and f"{place}/".startswith(above) and len(above) >= longest:
                kind, longest = words[2], len(above)
        return kind

    def text(self, name: str) -> str:
        """Give a file's text; empty if there is none that can be read."""
        try:
            return self.path(name).read_text(errors="replace")
        except OSError:
            return ""

    def has_node(self, name: str) -> bool:
        """Whether a device is there; Docker makes a folder of what `-v` does not find."""
        return self.path(f"dev/{name}").exists() and not self.path(f"dev/{name}").is_dir()

    @property
    def has_npu(self) -> bool:
        """Whether the driver's manager device is there."""
        return self.path("dev/davinci_manager").exists()

    @property
    def several_workers(self) -> bool:
        """Whether processes of one engine talk by shared memory."""
        return self.has_npu

    @property
    def in_container(self) -> bool:
        """Whether this is a container of Docker, containerd or Kubernetes."""
        marks = ("/.dockerenv", "/run/.containerenv", "/run/systemd/container")
        return bool(
            {"KUBERNETES_SERVICE_HOST", "container"} & self.environ.keys()
        ) or any(self.path(mark).exists() for mark in marks)

    @property
    def npu_smi(self) -> Readings | str:
        """What `npu-smi info` tells, or why it told nothing; asked once."""
        with _ONE_AT_A_TIME:
            return self._npu_smi

    @cached_property
    def _npu_smi(self) -> Readings | str:
        try:
            return parse(self.run(["npu-smi", "info"]))
        except TimeoutError as error:
            return f"npu-smi info gave {error}"
        except OSError as error:
            return f"npu-smi does not run: {error.strerror}"

    @property
    def cards(self) -> list[int]:
        """Numbers of the cards' device nodes; they may have gaps."""
        nodes = self.path("dev").glob("davinci[0-9]*")
        numbers = (node.name[len("davinci") :] for node in nodes)
        known = [number for number in numbers if re.fullmatch("[0-9]{1,4}", number)]
        return sorted(int(n) for n in known if self.has_node(f"davinci{n}"))


def _unescaped(word: str) -> str:
    r"""Give a word of /proc/mounts, where a space is `\040`."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), word)
