"""What the engine of a log died of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bundle.causes.diagnose import diagnose
from bundle.errors import ExitCode
from scripts.doctor.files import read

if TYPE_CHECKING:
    from bundle.causes.diagnose import Diagnosis


def examine_log(name: str, *, as_json: bool) -> int:
    """Print the cause; give 1 if the log tells of a death, 0 if it does not.

    Raises:
        CouldNotRun: the log cannot be read.
    """
    found = diagnose(read(name, "name a log of the server"), died=False)
    is_healthy = not found.cause and not found.evidence
    if as_json:
        print(json.dumps(_fields(found), ensure_ascii=False, indent=2))
    else:
        print("no cause of death and no exception is in it" if is_healthy else found)
    return ExitCode.GOOD if is_healthy else ExitCode.CHECK_FAILED


def _fields(found: Diagnosis) -> dict[str, object]:
    return {
        "cause": found.id,
        "evidence": found.evidence,
        "remedy": found.remedy,
        "page": found.page,
        "others": [other.id for other in found.others],
    }
