"""What a calibration scenario is: data with a known truth, the tests run on it, and what they answered."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ALPHA = 0.05
LEVEL = 0.95
Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True)
class Outcome:
    """Shares of one replicate: of tests that rejected a true null, of intervals that held the truth."""

    rejected: float | None = None
    covered: float | None = None


@dataclass(frozen=True)
class Test:
    """A test of the table: whether it is a default, whether the product warns here, and of what kind it is.

    ``difference`` tests should reject about 5 %, ``equivalence`` tests at most 5 %, an ``interval`` should
    hold the truth in 95 %, and ``descriptive`` intervals promise nothing.
    """

    name: str
    default: bool = False
    warned: bool = False
    kind: str = "difference"


@dataclass(frozen=True)
class Scenario:
    """A situation with fixed sizes; ``draw`` gives one replicate's outcome for each test, in order."""

    name: str
    plain: bool
    tests: tuple[Test, ...]
    draw: Callable[[np.random.Generator], tuple[Outcome, ...]]


def rejects(log10_p: float | None) -> float:
    """1 where a test rejects at the nominal level, 0 where it does not or could not be made."""
    return float(log10_p is not None and log10_p < math.log10(ALPHA))
