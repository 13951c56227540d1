"""Options that several commands read: a name out of a list, margins, levels, numbers of resamples."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TypeVar

from challenge_sets import InputError

E = TypeVar("E", bound=StrEnum)


def choice(option: str, value: str, names: type[E]) -> E:
    """The member of ``names`` called ``value``; ``InputError`` lists all names where there is none."""
    try:
        return names(value)
    except ValueError:
        raise InputError(f"{option} is '{value}'", hint=f"one of: {', '.join(names)}") from None


def margins(option: str, value: str) -> tuple[float, ...]:
    """Equivalence margins from ``3,5,7``, in that order; ``InputError`` unless all are positive numbers."""
    found = []
    for part in value.split(","):
        try:
            margin = float(part)
        except ValueError:
            margin = math.nan
        if not (math.isfinite(margin) and margin > 0):
            raise InputError(
                f"{option} has {part.strip() or 'an empty part'}, a margin is a positive number",
                hint=f"e.g. {option} 3,5,7",
            )
        found.append(margin)
    return tuple(dict.fromkeys(found))


def check_level(option: str, value: float) -> None:
    """``InputError`` unless ``value``, the level of a test, lies between 0 and 0.5."""
    if not 0.0 < value < 0.5:
        raise InputError(f"{option} is {value:g}, it lies between 0 and 0.5")


def check_count(option: str, value: int, *, least: int = 1) -> None:
    """``InputError`` unless ``value`` is at least ``least``."""
    if value < least:
        raise InputError(f"{option} is {value}, it is at least {least}")
