"""`python -m scripts.doctor`: whether this host can serve, and what is in the way.

`--host` needs nothing but Python 3.9 with its standard library.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from bundle.checks.table import BARE_HOST
from bundle.checks.world import World
from bundle.errors import CouldNotRun, ExitCode, Problem, run_command
from scripts.commandline import Parser
from scripts.doctor.compare import compare
from scripts.doctor.examine import as_json, as_text, examine, is_good
from scripts.doctor.log import examine_log

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scripts.doctor.examine import Result


def main(words: Sequence[str], environ: Mapping[str, str]) -> int:
    """Do what the options say; exit with 1 if something failed."""
    options = _options(words)
    if options.compare:
        return _compare(*options.compare, as_json=options.json)
    if options.log:
        return examine_log(options.log, as_json=options.json)
    if options.host:
        results = examine(BARE_HOST, World(environ))
    else:
        results = _all(options, environ)
    colour = sys.stdout.isatty()
    print(as_json(results) if options.json else as_text(results, colour=colour))
    return ExitCode.GOOD if is_good(results) else ExitCode.CHECK_FAILED


def _options(words: Sequence[str]) -> argparse.Namespace:
    parser = Parser(prog="python -m scripts.doctor", description=__doc__)
    parser.add_argument("--json", action="store_true", help="for machines")
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--host", action="store_true", help="only what a bare host has")
    one.add_argument(
        "--compare", nargs=2, type=_name, metavar="FILE", help="two files of --json"
    )
    one.add_argument("--log", type=_name, metavar="FILE", help="what the engine died of")
    one.add_argument("--support-bundle", type=_name, metavar="FILE.tar.gz")
    return parser.parse_args(list(words))


def _name(word: str) -> str:
    if not word:
        raise argparse.ArgumentTypeError("the name of a file is empty")
    return word


def _all(options: argparse.Namespace, environ: Mapping[str, str]) -> list[Result]:
    try:
        from scripts.doctor import start, support  # noqa: PLC0415 - a bare host has not
    except ModuleNotFoundError as error:
        what = f"this Python has no {error.name}, which the checks of a start need"
        raise CouldNotRun(Problem(what, "run `make doctor`, or add --host")) from error

    if not options.support_bundle:
        return start.examine_all(environ)[1]
    with support.created(Path(options.support_bundle)) as file:
        world, results = start.examine_all(environ)
        support.write(file, world, as_json(results))
    print(f"written: {options.support_bundle}", file=sys.stderr)
    return results


def _compare(first: str, second: str, *, as_json: bool) -> int:
    differences = compare(first, second)
    if as_json:
        print(json.dumps([asdict(one) for one in differences], indent=2))
    else:
        texts = [one.as_text(first, second) for one in differences]
        print("\n".join(texts) or "both hosts say the same")
    return ExitCode.CHECK_FAILED if differences else ExitCode.GOOD


if __name__ == "__main__":
    sys.exit(run_command(lambda: main(sys.argv[1:], os.environ)))
