"""Grade an answer by rules: what it says counts, not what it resembles.

Similarity of texts cannot tell a wrong city from a right one. So an answer is brought to
one plain form, cut into clauses, and searched for the question's words; a word inside a
negated clause is denied, not said.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bundle.model import Question

Verdict = Literal["right", "wrong", "truncated", "empty"]

_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")}
_DIGITS |= {"\N{IDEOGRAPHIC NUMBER ZERO}": 0, "两": 2}
_UNITS = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "亿": 100_000_000}
_NUMERAL = re.compile(f"[{''.join(_DIGITS)}十][{''.join(_DIGITS)}{''.join(_UNITS)}]*")
_MIXED_NUMERAL = re.compile(r"(\d+(?:\.\d+)?)([万亿])")
_SEVERAL = 10_000  # from here a unit multiplies all that stands before it

_QUOTES = re.compile("[*_`\"'“”‘’「」『』《》]")  # noqa: RUF001 - the quotes themselves
_CJK = "[\u4e00-\u9fff]"

# A comma, a colon and a full stop between digits belong to a number.
_BREAK = re.compile(
    r"[.:,](?!\d)|(?<!\d)[.:,]|[!?;\n。、()\[\]]"
    r"|\b(?:but|and|while|whereas|which|although|though|because|since)\b"
    r"|而是|但|而(?=不|非)"
)
_NOT_ZH = (
    r"不(?:会|可能|应该|应|能|该|再)?(?:是|等于|叫|为|在|算|属于|对|正确)|并非|绝非|≠"
)
_DENIES_WHAT_FOLLOWS = re.compile(
    r"\b(?:not(?! only| just)|never|no(?! doubt|\s*\d)|neither|nor|without|except|unlike"
    r"|rather than|instead of|other than|false|wrong|incorrect|untrue)\b"
    rf"|{_NOT_ZH}|非(?!常|洲|凡)|没有|错误"
)
_DENIES_WHAT_PRECEDES = re.compile(
    r"\b(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\s+"
    r"(?:\w+\s+)?(?:not(?! only| just)|never|false|wrong|incorrect|untrue)\b"
    rf"|{_NOT_ZH}|是错|错误"
)
_VERB_ZH = re.compile("是|等于")


def grade(text: str, question: Question, *, cut: bool = False) -> Verdict:
    """Judge the answer `text`; `cut` says that it ended at the token limit.

    Right means: one of `any_of` is said, none of them is denied, and none of `none_of`
    is said. A cut answer is not judged, since its end is not known.
    """
    if cut:
        return "truncated"
    answer = normalise(text)
    if not re.search(r"\w", answer):
        return "empty"
    said = list(_said(question.any_of, answer))
    right = any(said) and all(said) and not any(_said(question.none_of, answer))
    return "right" if right else "wrong"


def normalise(text: str) -> str:
    """Bring `text` to one plain form.

    NFKC (full-width becomes half-width), lower case, no quotes or emphasis, Chinese
    numerals as digits, no thousands separators, no spaces between Chinese characters.
    """
    text = unicodedata.normalize("NFKC", text).casefold().replace("!=", "≠")
    text = re.sub(r"\bcannot\b", "can not", re.sub("n['’]t\\b", " not", text))  # noqa: RUF001 - both apostrophes occur
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", _QUOTES.sub("", text))
    text = re.sub(rf"(?<={_CJK})[ \t]+(?={_CJK})", "", text)
    text = _MIXED_NUMERAL.sub(_mixed_to_digits, text)
    text = _NUMERAL.sub(lambda found: str(_value(found.group())), text)
    return re.sub(r"[ \t]+", " ", text).strip()


def _said(words: Iterable[str], answer: str) -> Iterator[bool]:
    """For each place in `answer` where a word stands: is it said (or denied)?"""
    patterns = [_pattern(normalise(word)) for word in words]
    for clause in _BREAK.split(answer):
        for pattern in patterns:
            for found in pattern.finditer(clause):
                yield not _denied(clause, found.start(), found.end())


def _pattern(word: str) -> re.Pattern[str]:
    """Find `word` as a whole: 2 is not in 12, 2.5 or -2; `len` is not in `length`."""
    before = r"(?<![a-z0-9])(?<!\d[.,])(?<!(?<![0-9a-z)])-)" if _plain(word[0]) else ""
    after = r"(?![a-z0-9]|[.,]\d)" if _plain(word[-1]) else ""
    return re.compile(before + re.escape(word) + after)


def _plain(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _denied(clause: str, start: int, end: int) -> bool:
    """Whether what stands at `start:end` is denied: "not Beijing", "北京不是首都"."""
    before = clause[:start]
    if _DENIES_WHAT_FOLLOWS.search(before):
        return True
    if not (denial := _DENIES_WHAT_PRECEDES.search(clause, end)):
        return False
    # In 是北京不是上海 and 北京是首都不是上海 the verb is used up: 不是 looks ahead.
    between = clause[end : denial.start()]
    return not (_VERB_ZH.search(before) or _VERB_ZH.search(between))


def _value(numeral: str) -> int | str:
    """Value of a Chinese numeral: 一百零二 is 102, 一百二 is 120, 二零二四 is 2024."""
    if not any(character in _UNITS for character in numeral):
        return "".join(str(_DIGITS[character]) for character in numeral)
    total, section, digit, unit = 0, 0, 0, 1
    for character in numeral:
        if character in _DIGITS:
            digit = _DIGITS[character]
            unit = 1 if digit == 0 else unit
            continue
        unit = _UNITS[character]
        if unit < _SEVERAL:
            section += (digit or 1) * unit
        else:
            total = (
                total * unit if section + digit == 0 else total + (section + digit) * unit
            )
            section = 0
        digit = 0
    return total + section + digit * max(1, unit // 10)


def _mixed_to_digits(found: re.Match[str]) -> str:
    return f"{float(found[1]) * _UNITS[found[2]]:.0f}"
