"""`python -m scripts.report FILE` draws report.md again; `--schema` prints the schema."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bundle.errors import ExitCode, run_command
from scripts.commandline import Parser
from scripts.report.files import draw, schema

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(words: Sequence[str]) -> int:
    """Draw a report, or print the schema that docs/report.schema.json holds."""
    parser = Parser("python -m scripts.report", description=__doc__)
    one_of = parser.add_mutually_exclusive_group(required=True)
    one_of.add_argument("file", nargs="?", type=Path, help="a report.json")
    one_of.add_argument("--schema", action="store_true", help="print its schema")
    options = parser.parse_args(words)
    print(schema() if options.schema else draw(options.file), end="")
    return ExitCode.GOOD


if __name__ == "__main__":
    sys.exit(run_command(lambda: main(sys.argv[1:])))
