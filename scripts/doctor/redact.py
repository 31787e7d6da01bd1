"""Take secrets out of text before it leaves the host; better too much than too little."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

HIDDEN = "(redacted)"
_NAMES = re.compile(r"(?i)key|token|secret|passw|passphrase|credential|auth|cookie")
_SHORTEST = 6  # a shorter value would be found in the middle of words

# In quotes, in quotes that are escaped themselves, or up to the next separator.
_VALUE = (
    r"(?:\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|\\\"(?:(?!\\\").)*"
    r"|[^\s\"',;&\])}]+)"
)
_NAMED = (
    r"(?:(?:api|access|private|secret)[_-]?key|secret|token|passw(?:or)?d|passphrase"
    r"|credentials?)"
)
# What is secret by its looks, wherever it stands, and what is kept of it.
_LOOKS = tuple(
    (re.compile(pattern), kept)
    for pattern, kept in (
        (r"(?i)(\b(?:authorization|cookie)[\"']?\s*[=:,]\s*[\"']?)[^\"'\n]+", r"\1"),
        (r"(?i)(\bbearer\s+)[^\s\"',;]+", r"\1"),
        # A user alone may be a token, and a password may have a slash in it. The bounds
        # here and below keep a log that is one long word from taking for ever.
        (r"(\w://)(?:[^\s\"'@/]{1,300}|[^\s\"'@/:]{0,100}:[^\s\"'@]{1,300})@", r"\1"),
        (rf"(?i)({_NAMED}\\?[\"']?\s*[=:]\s*[\[(]?){_VALUE}", r"\1"),
        # A flag and its value: in a shell, and as a list of words.
        (rf"(?i)(-\w{{0,20}}{_NAMED}[\"']?(?:\s*[=,]\s*|\s+)){_VALUE}", r"\1"),
        (rf"(?i)((?:\s-u|--user)[\"']?[=,\s]\s*){_VALUE}", r"\1"),
        (r"(?i)([?&][\w.-]*(?:key|sig|signature|auth|code)=)[^&\s\"']+", r"\1"),
        (r"\b(sk-|hf_|ghp_|github_pat_|glpat-|AKIA|LTAI|ms-)[\w.+/=-]{6,}", r"\1"),
        (r"(?<![\w-])eyJ[\w-]{5,}\.[\w-]+\.[\w-]+", ""),
        (r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END|\Z)", ""),
    )
)
_FLAG = re.compile(rf"(?i)^-[\w-]*{_NAMED}$")
_KEY_END = re.compile(r"-----END [A-Z ]*PRIVATE KEY-----")


def is_secret(name: str) -> bool:
    """Whether a variable or a key of that name holds a secret."""
    return bool(_NAMES.search(name))


def redactor(environ: Mapping[str, str], more: Iterable[str]) -> Callable[[str], str]:
    """Give a function that hides known secrets, and what looks like one.

    Known are the values of variables whose name says so, and `more`. Text that is JSON
    stays JSON.
    """
    named = (value for name, value in environ.items() if is_secret(name))
    forms = {form for value in (*named, *more) for form in _forms(value)}
    known = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))
    values = re.compile(known) if known else None

    def redact(text: str) -> str:
        text = _without_cut_key(text)
        if values:
            text = values.sub(HIDDEN, text)
        for pattern, kept in _LOOKS:
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
        return {
            redact(name): _walk(value, redact, hide=hide or is_secret(name))
            for name, value in found.items()
        }
    if isinstance(found, list):
        flags = [isinstance(one, str) and bool(_FLAG.search(one)) for one in found]
        after = [False, *flags]  # the word behind `--api-key`
        pairs = zip(found, after, strict=False)
        return [_walk(one, redact, hide=hide or secret) for one, secret in pairs]
    if isinstance(found, str):
        return HIDDEN if hide and found else redact(found)
    return found


def _without_cut_key(text: str) -> str:
    """Leave out what stands before the end of a key whose begin was cut off."""
    end, begin = _KEY_END.search(text), text.find("-----BEGIN")
    if end and not 0 <= begin < end.start():
        return HIDDEN + text[end.start() :]
    return text
