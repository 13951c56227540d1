"""Options that several commands read: what is understood, and what is refused in words."""

from __future__ import annotations

import math
from enum import StrEnum

import pytest

from analysis.commands.options import check_count, check_level, choice, margins
from challenge_sets import InputError


class Fruit(StrEnum):
    APPLE = "apple"
    PEAR = "pear"


def test_choice() -> None:
    assert choice("--fruit", "pear", Fruit) is Fruit.PEAR
    with pytest.raises(InputError, match="--fruit is 'plum'\n  one of: apple, pear"):
        choice("--fruit", "plum", Fruit)
    with pytest.raises(InputError, match="--fruit is 'PEAR'"):
        choice("--fruit", "PEAR", Fruit)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("3", (3.0,)),
        ("3,5,7", (3.0, 5.0, 7.0)),
        ("7, 3 ,0.5", (7.0, 3.0, 0.5)),
        ("3,3.0,5", (3.0, 5.0)),
        ("1e-3", (0.001,)),
    ],
)
def test_margins(value: str, expected: tuple[float, ...]) -> None:
    assert margins("--margin", value) == expected


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ("0", "0"),
        ("-3", "-3"),
        ("3,-5", "-5"),
        ("3,five", "five"),
        ("nan", "nan"),
        ("inf", "inf"),
        ("", "an empty part"),
        ("3,,5", "an empty part"),
        ("3;5", "3;5"),
    ],
)
def test_margins_are_positive_numbers(value: str, named: str) -> None:
    with pytest.raises(InputError, match=f"--margin has {named}, a margin is a positive number"):
        margins("--margin", value)


@pytest.mark.parametrize("value", [0.0, -0.05, 0.5, 5.0, math.nan, math.inf])
def test_levels_lie_between_0_and_a_half(value: float) -> None:
    with pytest.raises(InputError, match="--alpha is"):
        check_level("--alpha", value)


@pytest.mark.parametrize("value", [1e-6, 0.05, 0.49])
def test_levels_that_are_accepted(value: float) -> None:
    check_level("--alpha", value)


def test_counts_have_a_least_value() -> None:
    check_count("--resamples", 1)
    check_count("--seed", 0, least=0)
    with pytest.raises(InputError, match="--resamples is 0, it is at least 1"):
        check_count("--resamples", 0)
    with pytest.raises(InputError, match="--seed is -1, it is at least 0"):
        check_count("--seed", -1, least=0)
