"""Answers, one JSON line each, so that a run that broke off goes on where it was.

The first line says how the answers are made. A file that was made in another way is
refused: a score over both would be neither's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from bundle.errors import CouldNotRun, Problem
from bundle.model import Strict

if TYPE_CHECKING:
    from pathlib import Path


class Request(Strict):
    """How a problem is asked; names and meaning as in vLLM's chat completions.

    A score depends on each of these. The stop tokens are sent, since an engine that
    runs past the end writes further turns, whose numbers would be read. The folder's
    repetition penalty applies at temperature 0 too, so it is switched off.
    """

    model: str
    system_prompt: str
    stop_token_ids: tuple[int, ...]
    fewshot: int
    max_tokens: int
    temperature: float = 0
    top_p: float = 1
    top_k: int = -1
    repetition_penalty: float = 1


class Settings(Strict):
    """What must be equal for answers to be counted together."""

    data: str
    data_sha256: str
    asked: int
    server: str
    engine: str | None
    request: Request


class Answer(Strict):
    """What came back for one problem; `index` counts from 0 in the data's order."""

    index: int
    text: str
    finish_reason: str
    completion_tokens: int


class AnswerFile:
    """The file of a run that is under way, opened for this run's settings."""

    def __init__(self, path: Path, settings: Settings) -> None:
        """Read what is there, or begin; raises `CouldNotRun` if it is another run's."""
        self.path = path
        self.answers: dict[int, Answer] = {}
        if path.exists():
            self._read(settings)
        else:
            self._write(settings)

    def add(self, answer: Answer) -> None:
        """Keep one more answer, on disk too."""
        self.answers[answer.index] = answer
        self._write(answer)

    def finish(self) -> Path:
        """Rename the file, so that the next run begins anew; give its new path."""
        done = self.path.with_name(self.path.name.replace(".partial", ""))
        self.path.replace(done)
        return done

    def _read(self, settings: Settings) -> None:
        # As bytes: a kill may halve a character, and U+2028 in an answer ends no line.
        whole, _, cut = self._bytes().rpartition(b"\n")
        lines = whole.split(b"\n")
        try:
            made_with = Settings.model_validate_json(lines[0])
            found = [Answer.model_validate_json(line) for line in lines[1:]]
        except ValidationError as error:
            remedy = "remove it, or name another folder with --out"
            what = f"{self.path} holds no answers of this version"
            raise CouldNotRun(Problem(what, remedy)) from error
        if differing := _differences(made_with, settings):
            what = f"{self.path} was made with other settings: {differing}"
            remedy = "run it with those to go on, or remove that file to begin anew"
            raise CouldNotRun(Problem(what, remedy))
        self.answers = {answer.index: answer for answer in found}
        if cut:  # killed while it wrote
            self.path.write_bytes(whole + b"\n")

    def _bytes(self) -> bytes:
        try:
            return self.path.read_bytes()
        except OSError as error:
            what = f"{self.path} cannot be read: {error.strerror}"
            raise CouldNotRun(Problem(what, "move it, or name --out")) from error

    def _write(self, line: Strict) -> None:
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(line.model_dump_json() + "\n")
        except OSError as error:
            what = f"{self.path} cannot be written: {error.strerror}"
            raise CouldNotRun(Problem(what, "free some disk, or name --out")) from error


def _differences(there: Settings, here: Settings) -> str:
    old, new = _flat(there), _flat(here)
    return "; ".join(
        f"{key} {old[key]!r}, now {new[key]!r}" for key in old if old[key] != new[key]
    )


def _flat(settings: Settings) -> dict[str, object]:
    values = settings.model_dump()
    return {**values.pop("request"), **values}
