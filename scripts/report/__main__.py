"""`python -m scripts.report FILE` draws a report again, in English or Chinese.

`--schema` prints the schema of `report.json`, `--attest IMAGE@DIGEST` an in-toto
statement of it, to be signed by `cosign attest`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from bundle.errors import ExitCode, run_command
from scripts.commandline import Parser
from scripts.report.attest import statement
from scripts.report.files import draw, schema
from scripts.report.words import Language

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(words: Sequence[str]) -> int:
    """Draw a report, or print its schema, or what is attested of it."""
    options = _parser().parse_args(words)
    if options.schema:
        print(schema(), end="")
    elif options.attest:
        print(statement(options.file, options.attest))
    else:
        print(draw(options.file, options.language))
    return ExitCode.GOOD


def _parser() -> Parser:
    parser = Parser("python -m scripts.report", description=__doc__)
    one_of = parser.add_mutually_exclusive_group(required=True)
    one_of.add_argument("file", nargs="?", type=Path, help="a report.json")
    one_of.add_argument("--schema", action="store_true", help="print its schema")
    parser.add_argument("--language", choices=get_args(Language), default="en")
    parser.add_argument(
        "--attest", metavar="IMAGE@DIGEST", help="print an in-toto statement"
    )
    return parser


if __name__ == "__main__":
    sys.exit(run_command(lambda: main(sys.argv[1:])))
