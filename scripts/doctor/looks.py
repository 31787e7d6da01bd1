r"""What is secret by its looks, wherever it stands, and what is kept of it.

Each pattern takes time that grows with the text's length only: what may repeat before a
match is bounded, and nothing must follow what repeats without a bound.
"""

from __future__ import annotations

import re

# Words in front of "token" that make it one of the vocabulary, or of a clock.
_OF_A_MODEL = (
    *("pad", "eos", "bos", "unk", "sep", "cls", "mask", "stop", "special", "image"),
    *("video", "audio", "start", "end", "draft", "first", "next", "last", "per"),
    *("input", "output", "prompt"),
)
TOKEN = "token" + "".join(rf"(?<!{word}[_ -]token)" for word in _OF_A_MODEL)
_KEY = (
    r"(?:api|access|private|secret|ssh|encryption|licen[cs]e|signing|account|master"
    r"|client|shared|auth)[ _-]?key(?:[ _-]?id)?"
)
NAMED = rf"(?:{_KEY}|secret|{TOKEN}|passw(?:or)?d|passphrase|credentials?)"
# These are words of other meanings, too, so what follows must be a value.
_SHORT = (
    r"(?:(?<![a-z])(?:pg)?pass(?<!forward[_ ]pass)(?=\\?[\"']?\s{0,9}=|\\?[\"']\s{0,9}:)"
    r"|(?<=_)pwd|(?<![a-z])auth|(?-i:(?<=_)KEY))"
)
_SETS = r"\\?[\"']?[ \t]*(?:(?:=>|:?=)\s*|[:：][ \t]*(?:\r?\n[ \t]*(?=[\"']))?)"  # noqa: RUF001 - as written in Chinese

# In quotes and what touches them, as in a shell; up to the next separator, as in
# SecretStr('...'); or in quotes that are never closed.
_QUOTED = (
    r"[bfru]{0,2}(?:\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|\\\"(?:(?!\\\").)*\\\")"
)
_BARE = r"(?:\\[^\"'\n]|[^\s\"',;&\])}\\])"
_UNCLOSED = r"\\?[\"'][^\n]*"
VALUE = (
    r"(?!\[?\(redacted|(?:none|null|true|false)\b)"
    rf"(?:{_QUOTED}(?:{_QUOTED}|{_BARE})*|{_BARE}+(?:(?<=\(){_QUOTED})?|{_UNCLOSED})"
)
_FLAG = r"(?<![\w-])--?(?:[a-z0-9]+[-_]){0,5}"
_THEN = r"[\"']?(?:\s*[=,]\s*|(?:\s|\\\n)+)"
_PEM = r"[A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?"

_PATTERNS = (
    (rf"(?s)-----BEGIN {_PEM}-----.*?(?:-----END[A-Z ]{{0,60}}-{{0,5}}|\Z)", ""),
    (
        r"(?i)(\b(?:authorization|cookie)\\?[\"']?\s*[=:,]\s*(?:b?\\?[\"'])?)[^\"'\n]+",
        r"\1",
    ),
    (r"(?i)(\bbearer:?\s+)[^\s\"',;]{6,}", r"\1"),
    # A user alone may be a token, and a password may have a slash in it. What is looked
    # at ahead is not given back letter by letter.
    (r"(\w://)(?:[^\s\"'@/]{1,300}|[^\s\"'@/:]{0,100}:(?=([^\s\"'@]{1,300}))\2)@", r"\1"),
    # A name and a value of their own: of Kubernetes, say.
    (
        (
            r"(?i)(\b(?:name|key)\\?[\"']?\s*[:=]\s*\\?[\"']?[\w.-]{0,60}?"
            r"(?:key|token|secret|pass|pwd|credential|auth)[\w.-]{0,40}\\?[\"']?\s*,?\s*"
            rf"\\?[\"']?value\\?[\"']?\s*[:=]\s*){VALUE}"
        ),
        r"\1",
    ),
    # YAML whose value stands below its name.
    (
        (
            r"(?im)^(?=[^\n:]{1,90}:[ \t]*[|>]?[-+\d]{0,3}[ \t]*\r?$)"
            r"(([ \t]*)(- )?[\"']?[\w.-]{0,60}?"
            rf"(?:{NAMED}|{_SHORT})s?[\"']?[ \t]*:[^\n]*\n\2[ \t]*)"
            r"(?:(?<=[ \t])|(?(3)(?!)|-[ \t]))[^\n]*"
            r"(?:\n\2(?:[ \t]+|(?(3)(?!)|-[ \t]))[^\n]*)*"
        ),
        r"\1",
    ),
    (
        (
            rf"(?i)((?=[acelmpstk])(?:{NAMED}|{_SHORT}){_SETS}([\[(]\s*)?){VALUE}"
            rf"(?(2)\)?(?:\s*,\s*{VALUE}\)?)*)"
        ),
        r"\1",
    ),
    # Flags, in a shell or as a list of words; of API keys there may be several.
    (
        (
            rf"(?i)({_FLAG}api[-_]key{_THEN}){VALUE}"
            rf"(?:(?:[ \t]+|,\s*)(?![\"']?-){VALUE})*"
        ),
        r"\1",
    ),
    (rf"(?i)({_FLAG}(?:{NAMED}|pass|auth){_THEN}){VALUE}", r"\1"),
    (rf"(?i)(-{NAMED}\\?[\"']\s*,\s*){VALUE}", r"\1"),
    (
        (
            r"(?i)((?<![\w-])(?:-u|--user)[\"']?[=,\s]\s*[\"']?)"
            r"(?!\d+:\d+\b)[^\s:\"']{0,100}:[^\s\"',]+"
        ),
        r"\1",
    ),
    (r"(?i)([?&][\w.-]{0,60}(?:key|sig|signature|auth|code)=)[^&\s\"']+", r"\1"),
    (
        (
            r"(?<![A-Za-z0-9])(gh[opsur]_|github_pat_|glpat-|nvapi-|[sr]k_(?:live|test)_"
            r"|sk-(?:proj|ant|or|svcacct)-|xox[abeprs]-|dckr_pat_|pypi-)[\w.+/=-]{6,}"
        ),
        r"\1",
    ),
    # Also the beginnings of words: hf_overrides, ms-per-step.
    (
        (
            r"(?<![A-Za-z0-9])(hf_|npm_)(?=[a-z]{0,64}[\dA-Z]|[a-z]{16})"
            r"[A-Za-z0-9]{8,}(?!\w)"
        ),
        r"\1",
    ),
    (r"(?<![\w-])(sk-|ms-)(?=[\w-]{16})(?=[a-zA-Z_-]{0,99}\d)[\w.+/=-]+", r"\1"),
    (r"\b(AKIA|ASIA|AIza|LTAI)(?=[\w-]{0,20}\d|[A-Z])[\w-]{10,}", r"\1"),
    (r"(?<![\w-])eyJ[\w-]{5,}\.[\w-]*\.[\w-]+", ""),
)
# ASCII: Chinese may touch a word.
LOOKS = tuple((re.compile(pattern, re.ASCII), kept) for pattern, kept in _PATTERNS)
KEY_BEGIN = re.compile(rf"-----BEGIN {_PEM}-----")
KEY_END = re.compile(rf"-----END {_PEM}-----")
FLAG = re.compile(rf"(?i)^-(?:[\w-]*(?:{NAMED}|pass|auth)|u|-user)$")
SEVERAL = re.compile(r"(?i)^--?api[-_]key$")
