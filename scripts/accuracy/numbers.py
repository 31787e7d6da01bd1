r"""Read the number that an answer ends in, in whatever form a model writes it.

Strict: the number after a mark (`####`, `\boxed{`, "answer is", 答案是), the last one.
Flexible: that, or else the last number of the text, as the published score was made:
https://github.com/QwenLM/Qwen/blob/main/eval/evaluate_chat_gsm8k.py
"""

from __future__ import annotations

import re
from fractions import Fraction

from scripts.grade import digits

_LONGEST = 60  # characters; a model that repeats a digit for ever gives no number
_TOLERANCE = Fraction(1, 10_000)  # as in the published script

# Full-width characters, other spaces, other minus signs. Not NFKC: it makes 4² into 42.
_PLAIN: dict[int, int | str] = {n: n - 0xFEE0 for n in range(0xFF01, 0xFF5F)}
_PLAIN |= dict.fromkeys((0xA0, 0x2009, 0x202F, 0x3000), " ")
_PLAIN |= {0x2212: "-", 0xFE63: "-", 0x2044: "/", 0x3002: ". "}
_VULGAR = {"½": " 1/2", "¼": " 1/4", "¾": " 3/4", "⅓": " 1/3", "⅔": " 2/3"}

_MARK = re.compile(
    r"####|\\boxed\s*\{|\banswer\s*(?:is\b|:|=)|答案(?:应该)?(?:是|为|:|=)", re.IGNORECASE
)
_FRACTION = re.compile(r"\\[dt]?frac\s*\{(\d+)\}\s*\{(\d+)\}")
_SHARE = re.compile(r"(\d+)分之(\d+)")
_MIXED = re.compile(r"\d+(?:\.\d+)?[万亿]")
_NUMBER = re.compile(
    r"(?P<minus>(?<![\w)%.])(?<![\w)%] )-\s?)?"  # 10-7 and 10 - 7 are no -7
    r"(?:[$€£¥] ?(?P<inner>-)?)?"
    r"(?P<whole>\d{1,3}(?:,\d{3})+(?!\d)|\d{1,3}(?: \d{3})+(?![\d/])|\d+(?! ?/ ?\d))?"
    r"(?P<part>(?<=\d)\.\d+|(?<![\d.])\.\d+)?"
    r"(?P<power>(?<=\d)e[+-]?\d{1,2}(?![a-z\d]))?"
    r"(?P<over>(?:(?<=\d) )?(?<![\d.])\d+ ?/ ?\d+)?",
    re.IGNORECASE,
)


def strict(text: str) -> Fraction | None:
    """Give the number after the last mark; none if nothing is marked."""
    text = _plain(text)
    for mark in reversed(list(_MARK.finditer(text))):
        rest = text[mark.end() :].lstrip()
        line = digits(rest.partition("\n")[0])
        # Of "3 + 4 = 7" the 7.
        if found := _numbers(line.rpartition("=")[2]) or _numbers(line):
            return found[0]
    return None


def flexible(text: str) -> Fraction | None:
    """Give the marked number, or else the last one of the text."""
    if (marked := strict(text)) is not None:
        return marked
    plain = _plain(text)
    # 一 is in many words that count nothing; a text with digits means those.
    plain = plain if re.search(r"\d", plain) else digits(plain)
    found = _numbers(plain)
    return found[-1] if found else None


def same(found: Fraction | None, expected: Fraction) -> bool:
    """Whether `found` is the expected number."""
    return found is not None and abs(found - expected) < _TOLERANCE


def _plain(text: str) -> str:
    text = text.translate(_PLAIN)
    for sign, words in _VULGAR.items():
        text = text.replace(sign, words)
    text = _FRACTION.sub(r"\1/\2", text).replace("\\$", "$").replace("百分之", "")
    text = re.sub(r"[*_`]{2,}|\\,", "", text.replace("{,}", ","))
    return _MIXED.sub(lambda found: digits(found.group()), text)


def _numbers(text: str) -> list[Fraction]:
    return [
        value
        for found in _NUMBER.finditer(_SHARE.sub(r"\2/\1", text))
        if (value := _value(found)) is not None
    ]


def _value(found: re.Match[str]) -> Fraction | None:
    parts = found.groupdict(default="")
    decimal = re.sub("[, ]", "", parts["whole"] + parts["part"]) + parts["power"]
    if not (decimal or parts["over"]) or len(found.group()) > _LONGEST:
        return None
    value = Fraction(("0" if decimal.startswith(".") else "") + decimal or 0)
    if parts["over"]:
        top, bottom = parts["over"].replace(" ", "").split("/")
        if int(bottom) == 0:
            return None
        value += Fraction(int(top), int(bottom))
    return -value if parts["minus"] or parts["inner"] else value
