"""What a report says of an image, as an in-toto statement for `cosign attest`.

https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from bundle.errors import Problem, WrongUsage
from scripts.report.files import read

if TYPE_CHECKING:
    from pathlib import Path

STATEMENT = "https://in-toto.io/Statement/v1"
# Of our own making, by the URI rules of the specification; the 1 is the report's version.
PREDICATE = "https://ascend-chat-bundle/report/v1"
_SUBJECT = re.compile(r"([^@\s]+)@sha256:([0-9a-f]{64})")


def statement(report: Path, subject: str) -> str:
    """Give the statement: `subject` is the image that was tested, NAME@sha256:DIGEST.

    Raises:
        WrongUsage: `subject` names no digest.
        CouldNotRun: `report` is no report.
    """
    found = _SUBJECT.fullmatch(subject)
    if not found:
        what = f"--attest {subject!r} names no image by its digest"
        remedy = "give NAME@sha256:… as `docker images --digests` shows it"
        raise WrongUsage(Problem(what, remedy))
    name, digest = found.groups()
    return json.dumps(
        {
            "_type": STATEMENT,
            "subject": [{"name": name, "digest": {"sha256": digest}}],
            "predicateType": PREDICATE,
            "predicate": read(report).model_dump(mode="json"),
        },
        ensure_ascii=False,
    )
