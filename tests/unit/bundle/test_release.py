"""Releases in the forms of Ascend and Docker: a candidate comes before its release."""

from __future__ import annotations

import pytest

from bundle.release import first_release, release

# As drivers, CANN and Compose print them, the oldest first.
RISING = ["23.0.2.1", "25.2.3", "25.3.rc1", "25.5.RC1", "25.5", "25.5.1.rc2", "25.5.1"]
RISING += ["25.5.2", "25.6.rc1.b218", "25.6.0", "25.10.0", "26.0.rc1"]


def test_a_candidate_comes_before_its_release() -> None:
    known = [release(text) for text in RISING]

    assert None not in known
    assert known == sorted(found for found in known if found)


@pytest.mark.parametrize(
    "text",
    [
        "V100R001C25",
        "",
        "25",
        "25.",
        ".5",
        "25.5.x",
        "\uff19.\uff11",
        "1.2 3",
        "25.5.1abc",
    ],
)
def test_what_is_no_version_is_none(text: str) -> None:
    assert release(text) is None


@pytest.mark.parametrize("same", ["2.24", "v2.24.0", "2.24.0-desktop.1", "2.24.0+ds1-0"])
def test_a_build_is_of_its_release(same: str) -> None:
    assert release(same) == ((2, 24), True)


def test_the_version_is_found_below_a_warning() -> None:
    said = "WARNING: Error loading config file: /root/.docker: denied\n2.40.1\n"

    assert first_release(said) == ("2.40.1", ((2, 40, 1), True))
    assert first_release("unknown shorthand flag: 's' in -s\n")[1] is None
    assert first_release(" ") == ("(nothing)", None)
