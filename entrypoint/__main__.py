"""Container start: check everything, then hand over to supervisord.

Any command that is not an option passes through: `python -m entrypoint bash`; `doctor`
is ours, with CANN sourced as a start has it.
"""

from __future__ import annotations

import os
import shlex
import sys
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from bundle.checks.start import Start
from bundle.command import ask
from bundle.errors import ExitCode, Problem, WrongUsage, run_command
from bundle.host import device_family
from bundle.model import load_model
from bundle.settings import load
from entrypoint.command import vllm_argv
from entrypoint.preflight import preflight
from entrypoint.served import note

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bundle.model import Family
    from bundle.settings import Settings

# Between the end of the drain and SIGKILL: the engine frees its memory.
STOP_MARGIN_SECONDS = 15


def main(words: Sequence[str], environ: Mapping[str, str]) -> int:
    """Check, then become supervisord; with `--check`, stop before that."""
    if words[:1] == ["doctor"]:
        _become([sys.executable, "-m", "scripts.doctor", *words[1:]], environ)
    if words and not words[0].startswith("-"):
        _become(words, environ)
    _check_words(words)
    settings = load(environ)
    model = load_model(settings.models_dir, settings.model)
    family = device_family(settings)
    patient = partial(ask, timeout=60)  # the engine's Python, on a disk that is cold
    start = Start(environ, run=patient, settings=settings, model=model, family=family)
    print(f"checking {start.weights} on {start.family}", flush=True)
    preflight(start)
    print("all checks passed", flush=True)
    if "--check" in words:
        print(shlex.join(vllm_argv(settings, model, start.family)))
        return ExitCode.GOOD
    note(start)
    return _hand_over(settings, start.family, environ)


def supervise_environ(settings: Settings, family: Family) -> dict[str, str]:
    """What the static supervisord.conf takes from the environment."""
    return {
        "SUPERVISE_PYTHON": sys.executable,
        "SUPERVISE_RUN_DIR": str(settings.run_dir),
        "SUPERVISE_EXPORTER": str(settings.supervise_exporter).lower(),
        "SUPERVISE_NPU_READINGS": str(family != "cpu").lower(),
        "SUPERVISE_STOP_SECONDS": str(settings.drain_seconds + STOP_MARGIN_SECONDS),
    }


def _become(words: Sequence[str], environ: Mapping[str, str]) -> NoReturn:
    try:
        os.execvpe(words[0], list(words), dict(environ))  # noqa: S606 - no shell wanted
    except OSError as error:
        raise WrongUsage(
            Problem(f"{words[0]!r} does not run: {error.strerror}", "name a command")
        ) from error


def _hand_over(
    settings: Settings, family: Family, environ: Mapping[str, str]
) -> NoReturn:
    words = [sys.executable, "-m", "entrypoint.supervise"]
    _become(words, {**environ, **supervise_environ(settings, family)})


def _check_words(words: Sequence[str]) -> None:
    if unknown := [word for word in words if word != "--check"]:
        raise WrongUsage(
            Problem(
                f"{' '.join(unknown)} is no option of the entrypoint",
                "use --check or a command; engine flags go into BUNDLE_EXTRA_ARGS",
            )
        )


if __name__ == "__main__":
    sys.exit(run_command(lambda: main(sys.argv[1:], os.environ)))
