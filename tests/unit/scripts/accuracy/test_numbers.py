"""The number that an answer ends in is read, in whatever form it is written."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.accuracy.numbers import flexible, same, strict
from scripts.accuracy.problems import gsm8k, source

ROOT = Path(__file__).parents[4]
SHARED = Path(os.environ.get("BUNDLE_TEST_SHARED", ROOT.parent / "shared"))
GSM8K = SHARED / "data/gsm8k-test.jsonl"


@pytest.mark.skipif(not GSM8K.exists(), reason=f"no copy of GSM8K: {GSM8K}")
def test_every_gold_answer_is_read() -> None:
    """By a way of its own: what stands after `####`, without commas, is a number."""
    rows = [json.loads(line)["answer"] for line in GSM8K.read_text().splitlines()]
    expected = [Fraction(row.split("#### ")[1].replace(",", "")) for row in rows]

    assert len(rows) == 1319
    assert expected == [strict(row) for row in rows]
    assert expected == [problem.answer for problem in gsm8k(GSM8K).problems]
    assert source().size_bytes == GSM8K.stat().st_size


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$1,234.50", "1234.5"),
        ("3/4", "3/4"),
        ("50%", "50"),
        ("-7", "-7"),
        ("−7", "-7"),  # noqa: RUF001 - the other minus sign
        ("-$7", "-7"),
        ("$-7", "-7"),
        ("1.5e3", "1500"),
        (".5", "1/2"),
        ("2½", "5/2"),
        ("1 1/2 cups", "3/2"),
        ("十二", "12"),
        ("一共是十二个苹果。", "12"),
        ("四分之三", "3/4"),
        ("百分之五十", "50"),
        ("3万元", "30000"),
        ("３２個", "32"),
        (r"\boxed{42}", "42"),
        (r"$\boxed{1{,}234\text{ dollars}}$", "1234"),
        (r"So it is \boxed{\frac{3}{4}}.", "3/4"),
        ("答案是12个。", "12"),
        ("答案：十二。一共买了3次。", "12"),  # noqa: RUF001 - full-width colon
        ("The answer is: **18**.", "18"),
        ("The answer is 3 + 4 = 7.", "7"),
        ("The answer is 18 dollars for 3 ducks.", "18"),
        ("The answer is 5.\nWait, the answer is 6.", "6"),
        ("1 234 567", "1234567"),
        ("1\u202f234", "1234"),
        ("10-7", "7"),
        ("10 - 7", "7"),
        ("16 - 3 = 13 eggs, and 13 * 2 = $26.", "26"),
        ("20/5 = 4", "4"),
        ("4² = 16", "16"),
        ("First 3, then 4 apples.", "4"),
        ("12 kg.", "12"),
    ],
)
def test_hard_forms(text: str, value: str) -> None:
    assert flexible(text) == Fraction(value)


@pytest.mark.parametrize("text", ["", "I do not know.", "3 / 0", "\\boxed{}", "9" * 5000])
def test_no_number_is_unparseable(text: str) -> None:
    assert flexible(text) is None


def test_a_giant_exponent_is_not_computed() -> None:
    assert flexible("1e999999999") == 999_999_999


def test_strict_wants_a_mark() -> None:
    assert strict("It makes 18 dollars.") is None
    assert strict("#### 18") == 18


@given(
    st.integers(0, 10**9),
    st.sampled_from(["{}", "{:,}", "${:,}", "{}.", "**{}**", "{}%", "{}.00", "{:e}"]),
    st.sampled_from(
        ["{}", "#### {}", r"\boxed{{{}}}", "The answer is {} apples.", "5 - 3, so {}"]
    ),
    st.booleans(),
)
def test_a_number_written_in_any_form_is_read_back(
    number: int,
    form: str,
    around: str,
    wide: bool,  # noqa: FBT001 - drawn by name
) -> None:
    number = number if form != "{:e}" else round(number, -4) % 10**7
    text = around.format(form.format(number))
    if wide:
        text = text.translate({ord(str(d)): 0xFF10 + d for d in range(10)})

    assert flexible(text) == number


@given(st.integers(0, 99_999_999))
def test_a_chinese_numeral_is_read_back(number: int) -> None:
    assert flexible(f"答案是{_chinese(number)}。") == number


def _chinese(number: int) -> str:
    if number >= 10_000:
        high, low = divmod(number, 10_000)
        zero = "零" if 0 < low < 1000 else ""
        return _chinese(high) + "万" + (zero + _chinese(low) if low else "")
    if number == 0:
        return "零"
    text, gap = "", False
    for unit, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // unit % 10
        if digit:
            text += ("零" if gap else "") + "零一二三四五六七八九"[digit] + name
            gap = False
        else:
            gap = bool(text)
    return text


def test_close_is_the_same_and_nothing_is_not() -> None:
    assert same(Fraction("33.33333"), Fraction(100, 3))
    assert not same(Fraction("33.3"), Fraction(100, 3))
    assert not same(None, Fraction(0))
