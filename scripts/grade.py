"""Grade an answer by rules: what it says counts, not what it resembles.

Similarity of texts cannot tell a wrong city from a right one. So an answer is brought to
one plain form, cut into clauses, and searched for the question's words; a word inside a
negated clause is denied, not said.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
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
    r"不(?:会|可能|应该|应|能|该|再)?(?:是|从|等于|叫|为|在|算|属于|对|正确)|并非|绝非|≠"
)
_DENIES_WHAT_FOLLOWS = re.compile(
    r"\b(?:not(?! only| just)|never|no(?! doubt|\s*\d)|neither|nor|without|except|unlike"
    r"|rather than|instead of|other than|false|wrong|incorrect|untrue)\b"
    rf"|{_NOT_ZH}|非(?!常|洲|凡)|没有|错误|不(?:能|要|可以|应该?|该)?用"
)
_DENIES_WHAT_PRECEDES = re.compile(
    r"\b(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\s+"
    r"(?:\w+\s+)?(?:not(?! only| just)|never|false|wrong|incorrect|untrue)\b"
    rf"|{_NOT_ZH}|是错|错误"
)
_VERB_ZH = re.compile("是|等于")
# "Paris or Lyon", 可能是巴黎,也可能是里昂: between two answers of which neither is given.
_ALTERNATIVE = re.compile(
    r"(?:[\s,;/、()&+]|\b(?:and|or|also|it|is|be|could|might|may|maybe|perhaps|possibly"
    r"|probably)\b|和|与|以及|或者?|还是|也许|也|可能|大概|是|到|至)*"
)


@dataclass(frozen=True)
class _Hit:
    """Where a word stands in an answer, and whether it is said there or denied."""

    start: int
    end: int
    denied: bool


def grade(text: str, question: Question, *, cut: bool = False) -> Verdict:
    """Judge the answer `text`; `cut` says that it ended at the token limit.

    Right means: one of `any_of` is said, none of them is denied, and no rival of
    `none_of` comes before it or as its alternative. The first answer counts: what is said
    of a rival later does no harm ("Paris. Lyon is smaller."). A cut answer is not judged,
    since its end is not known.
    """
    if cut:
        return "truncated"
    answer = normalise(text)
    if not re.search(r"\w", answer):
        return "empty"
    hits = list(_hits(question.any_of, answer))
    if not hits or any(hit.denied for hit in hits):
        return "wrong"
    first = min(hits, key=lambda hit: hit.start)
    rivals = (hit for hit in _hits(question.none_of, answer) if not hit.denied)
    return "wrong" if any(_competes(hit, first, answer) for hit in rivals) else "right"


def _competes(rival: _Hit, first: _Hit, answer: str) -> bool:
    between = answer[first.end : rival.start]
    return rival.start < first.start or bool(_ALTERNATIVE.fullmatch(between))


def normalise(text: str) -> str:
    """Bring `text` to one plain form.

    NFKC (full-width becomes half-width), lower case, no quotes or emphasis, Chinese
    numerals as digits, no thousands separators, no spaces between Chinese characters.
    """
    text = unicodedata.normalize("NFKC", text).casefold().replace("!=", "≠")
    text = re.sub(r"\bcannot\b", "can not", re.sub("n['’]t\\b", " not", text))  # noqa: RUF001 - both apostrophes occur
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", _QUOTES.sub("", text))
    text = re.sub(rf"(?<={_CJK})[ \t]+(?={_CJK})", "", text)
    return re.sub(r"[ \t]+", " ", digits(text)).strip()


def digits(text: str) -> str:
    """Write Chinese numerals as digits: 十二 is 12, 3万 is 30000."""
    text = _MIXED_NUMERAL.sub(_mixed_to_digits, text)
    return _NUMERAL.sub(lambda found: str(_value(found.group())), text)


def _hits(words: Iterable[str], answer: str) -> Iterator[_Hit]:
    """Give each place in `answer` where a word stands."""
    patterns = [_pattern(normalise(word)) for word in words]
    ends = [(found.start(), found.end()) for found in _BREAK.finditer(answer)]
    starts = [0, *(end for _, end in ends)]
    for start, (end, _) in zip(starts, [*ends, (len(answer), 0)], strict=True):
        clause = answer[start:end]
        for pattern in patterns:
            for found in pattern.finditer(clause):
                denied = _denied(clause, found.start(), found.end())
                yield _Hit(start + found.start(), start + found.end(), denied)


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
