"""From the bundle's Python, which has neither torch nor numpy, to the engine's."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from bundle.errors import CouldNotRun, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence


def in_engine(python: str, needed: str, words: Sequence[str]) -> int:
    """Run the same command there; a Python without `needed` would do so for ever."""
    look = "import importlib.util as u, sys; sys.exit(u.find_spec(sys.argv[1]) is None)"
    try:
        if subprocess.run([python, "-c", look, needed], check=False).returncode:
            what = f"neither this Python nor the engine's, {python!r}, has {needed}"
            raise CouldNotRun(Problem(what, "set BUNDLE_ENGINE_PYTHON to one that has"))
        code = subprocess.run(
            [python, "-m", "scripts.parity", *words], check=False
        ).returncode
    except OSError as error:
        what = f"the engine's Python {python!r} cannot be started: {error.strerror}"
        raise CouldNotRun(Problem(what, "set BUNDLE_ENGINE_PYTHON to it")) from error
    if code < 0:
        what = f"the engine's Python was ended by signal {-code}"
        raise CouldNotRun(Problem(what, "see whether memory was short (9 is often that)"))
    return code
