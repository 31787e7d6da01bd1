"""Take secrets out of text before it leaves the host; better too much than too little."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from scripts.doctor.looks import FLAG, KEY_BEGIN, KEY_END, LOOKS, SEVERAL, TOKEN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

HIDDEN = "(redacted)"
_NAMES = re.compile(
    r"(?i)key|token|secret|passw|passphrase|credential|auth|cookie|dsn$"
    r"|(?<![a-z])(?:pg)?pass(?![a-z])|_pwd"
)
_TOKEN = re.compile(f"(?i){TOKEN}")
_NO_SECRET = re.compile(
    r"(?i)tokeni[sz]|tokens?_ids?|tokens(?![a-z])|monkey|keyboard|keyword|author(?!iz)"
)
_NAMING = ("name", "Name", "key", "Key")  # of a pair whose other half is "value"
_SHORTEST = 6  # a shorter value would be found in the middle of words
_SHORT = 12  # a shorter one is hidden where it is a word of its own


def is_secret(name: str) -> bool:
    """Whether a variable or a key of that name holds a secret."""
    name = _NO_SECRET.sub("", name)
    return any(
        one.group().lower() != "token" or _TOKEN.search(name)
        for one in _NAMES.finditer(name)
    )


def redactor(environ: Mapping[str, str], more: Iterable[str]) -> Callable[[str], str]:
    """Give a function that hides known secrets, and what looks like one.

    Known are the values of variables whose name says so, and `more`. Text that is JSON
    stays JSON.
    """
    named = (value for name, value in environ.items() if is_secret(name))
    forms = {form for value in (*named, *more) for form in _forms(value)}
    longest_first = sorted(forms, key=len, reverse=True)
    known = "|".join(_pattern(form) for form in longest_first)
    values = re.compile(known, re.ASCII) if known else None

    def redact(text: str) -> str:
        text = _without_cut_key(text)
        if values:
            text = values.sub(HIDDEN, text)
        for pattern, kept in LOOKS:
            text = pattern.sub(kept + HIDDEN, text)
        return text

    return lambda text: _redacted(text, redact)


def _forms(value: str) -> Iterator[str]:
    """Give how a secret may be written: as it is, in code, JSON, a URL, line by line."""
    once = [json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]]
    twice = [json.dumps(form)[1:-1] for form in once]  # JSON that is quoted in JSON
    coded = [repr(value)[1:-1], quote(value), quote(value, safe="")]
    for form in (value, *once, *twice, *coded, *value.split("\n")):
        if len(form) >= _SHORTEST:
            yield form


def _pattern(form: str) -> str:
    pattern = re.escape(form)
    return rf"(?<!\w){pattern}(?!\w)" if len(form) < _SHORT else pattern


def _redacted(text: str, redact: Callable[[str], str]) -> str:
    """Redact each string of JSON for itself, since text would hide its quotes."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return redact(text)
    return json.dumps(_walk(found, redact), indent=2, ensure_ascii=False)


def _walk(found: object, redact: Callable[[str], str], *, hide: bool = False) -> object:
    """Redact every string; with `hide` they are the value of a name that is secret."""
    if isinstance(found, dict):
        pair = any(name in found and is_secret(str(found[name])) for name in _NAMING)
        return {
            redact(name): _walk(
                value,
                redact,
                hide=hide or is_secret(name) or (pair and name.lower() == "value"),
            )
            for name, value in found.items()
        }
    if isinstance(found, list):
        pairs = zip(found, _behind_flags(found), strict=False)
        return [_walk(one, redact, hide=hide or secret) for one, secret in pairs]
    if isinstance(found, str):
        return HIDDEN if hide and found else redact(found)
    return found


def _behind_flags(words: list[object]) -> Iterator[bool]:
    """Say of each word whether it is the value of a flag such as `--api-key`."""
    flag = several = False
    for word in words:
        is_flag = isinstance(word, str) and word.startswith("-")
        yield flag or (several and not is_flag)
        flag = bool(FLAG.search(str(word)))
        several = bool(SEVERAL.search(str(word))) if is_flag else several


def _without_cut_key(text: str) -> str:
    """Leave out what stands before the end of a key whose begin was cut off."""
    end = KEY_END.search(text)
    if end and not KEY_BEGIN.search(text, 0, end.start()):
        return HIDDEN + text[end.start() :]
    return text
