"""Charts as what they are: numbers in places."""

from __future__ import annotations

import math
from xml.etree.ElementTree import Element, fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.charts.frame import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Axis, round_step
from scripts.charts.shapes import Series, ecdf, histogram, lines, timeline

SVG = "{http://www.w3.org/2000/svg}"
NUMBERS = st.lists(st.floats(0.001, 1e6), min_size=1, max_size=50)


def drawn(text: str, shape: str) -> list[Element]:
    """Give all shapes of a kind; raises unless the text is well-formed XML."""
    return list(fromstring(text).iter(SVG + shape))  # noqa: S314 - our own text


def points(text: str) -> list[list[tuple[float, float]]]:
    """Give the pixels of each line."""
    return [
        [tuple(map(float, pair.split(","))) for pair in line.attrib["points"].split()]  # type: ignore[misc]
        for line in drawn(text, "polyline")
    ]


def test_a_point_lies_where_its_numbers_say() -> None:
    series = Series("a", ((0.0, 0.0), (5.0, 25.0), (10.0, 100.0)))
    ((low, middle, high),) = points(lines("t", "x", "y", [series]))

    assert low == (LEFT, HEIGHT - BOTTOM)
    assert high == (WIDTH - RIGHT, TOP)
    centre = (LEFT + WIDTH - RIGHT) / 2, HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) / 4
    assert middle == pytest.approx(centre, abs=0.01)


def test_a_logarithmic_axis_gives_each_decade_the_same_room() -> None:
    series = Series("a", ((0.0, 1.0), (1.0, 10.0), (2.0, 100.0)))
    ((low, middle, high),) = points(lines("t", "x", "y", [series], log=True))

    assert low[1] - middle[1] == pytest.approx(middle[1] - high[1], abs=0.05)


def test_the_steps_of_an_ecdf_end_at_one() -> None:
    (steps,) = points(ecdf("t", "ms", [3.0, 1.0, 2.0, 2.0]))

    assert steps[0][1] == HEIGHT - BOTTOM
    assert steps[-1] == (WIDTH - RIGHT, TOP)
    assert steps == sorted(steps, key=lambda point: (point[0], -point[1]))


def test_bars_hold_every_sample() -> None:
    samples = [1.0] * 3 + [2.0] * 5 + [9.0]
    heights = [
        float(bar.attrib["height"])
        for bar in drawn(histogram("t", "ms", samples), "rect")
    ]

    assert len(heights) == 3
    whole = HEIGHT - TOP - BOTTOM
    assert heights == pytest.approx([whole * 3 / 5, whole, whole / 5], abs=0.02)


def test_a_timeline_has_two_bars_a_request_and_later_ones_lie_higher() -> None:
    bars = drawn(timeline("t", "s", [(0.0, 1.0, 3.0), (2.0, 3.0, 4.0)]), "rect")
    tops = [float(bar.attrib["y"]) for bar in bars]

    assert len(bars) == 4
    assert tops[0] == tops[1] > tops[2]
    assert float(bars[1].attrib["width"]) == pytest.approx(
        2 * float(bars[0].attrib["width"]), abs=0.02
    )


def test_the_mark_stands_at_its_value() -> None:
    text = lines("t", "x", "y", [Series("", ((0.0, 1.0), (10.0, 2.0)))], mark=5.0)
    (mark,) = [one for one in drawn(text, "path") if one.attrib["class"] == "mark"]

    assert mark.attrib["d"].startswith(f"M{(LEFT + WIDTH - RIGHT) / 2:g}")


@given(NUMBERS)
def test_any_numbers_give_shapes_within_the_frame(samples: list[float]) -> None:
    pairs = tuple(zip(samples, reversed(samples), strict=True))
    for text in (
        ecdf("t", "x", samples),
        histogram("t", "x", samples),
        lines("t", "x", "y", [Series("a", pairs)], log=True),
    ):
        for x, y in (point for line in points(text) for point in line):
            assert LEFT - 0.01 <= x <= WIDTH - RIGHT + 0.01
            assert TOP - 0.01 <= y <= HEIGHT - BOTTOM + 0.01
        for bar in drawn(text, "rect"):
            assert float(bar.attrib["height"]) >= 0


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_refused(bad: float) -> None:
    for chart in (ecdf, histogram):
        with pytest.raises(ValueError, match="finite"):
            chart("t", "x", [1.0, bad])
        with pytest.raises(ValueError, match="finite"):
            chart("t", "x", [])


def test_a_value_that_has_no_logarithm_is_refused() -> None:
    with pytest.raises(ValueError, match="logarithmic"):
        lines("t", "x", "y", [Series("a", ((1.0, 0.0), (2.0, 1.0)))], log=True)


def test_names_cannot_break_out_of_the_picture() -> None:
    evil = '</title><script>alert("1")</script>&'
    pair = ((0.0, 1.0), (1.0, 2.0))
    text = lines(evil, evil, evil, [Series(evil, pair), Series("b", pair)])

    assert "<script" not in text
    assert next(fromstring(text).iter(SVG + "title")).text == evil  # noqa: S314 - ours


@given(st.floats(1e-3, 1e9))
def test_ticks_are_round_and_few(span: float) -> None:
    step = round_step(span)
    digit = step / 10 ** math.floor(math.log10(step) + 1e-9)

    assert min(abs(digit - one) for one in (1, 2, 5, 10)) < 1e-6
    assert 2 <= len(Axis("x", 0, span).ticks()) <= 7
