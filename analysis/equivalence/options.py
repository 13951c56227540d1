"""How equivalence is tested: designs, methods, margins."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from challenge_sets import InputError

FEWEST_RESAMPLES = 100


class Design(StrEnum):
    """How the scores of the two conditions belong together."""

    PAIRED = "paired"
    """Each row holds both scores of one unit; what is tested is the mean difference."""
    UNPAIRED = "unpaired"
    """A row may hold one score: what is tested is the difference of the two means."""
    PER_ANNOTATOR = "per-annotator"
    """Each annotator counts once, with the difference of their two means."""


class Method(StrEnum):
    """Where the standard error of a difference comes from."""

    NAIVE = "naive"
    DOCUMENT = "document"
    ANNOTATOR = "annotator"
    TWO_WAY = "two-way"
    BOOTSTRAP = "bootstrap"
    ANNOTATOR_MEANS = "annotator-means"


@dataclass(frozen=True, slots=True)
class EquivalenceOptions:
    """``margins`` in metric units: equivalence is a difference within (-margin, margin).

    ``alpha`` is the level of each one-sided test and of the test of a difference; intervals are at
    1 - 2 ``alpha``. ``method`` gives the verdict; ``None`` takes the most cautious that the columns allow.
    Raises ``InputError`` where a value is out of its range.
    """

    margins: tuple[float, ...]
    design: Design = Design.PAIRED
    method: Method | None = None
    alpha: float = 0.05
    resamples: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.margins:
            raise InputError("no equivalence margin")
        for margin in self.margins:
            if not (math.isfinite(margin) and margin > 0):
                raise InputError(f"the margin is {margin:g}, an equivalence margin is a positive number")
        if not 0.0 < self.alpha < 0.5:
            raise InputError(f"alpha is {self.alpha:g}, it lies between 0 and 0.5")
        if self.resamples < FEWEST_RESAMPLES:
            raise InputError(f"{self.resamples} resamples, at least {FEWEST_RESAMPLES} are needed")
        if self.seed < 0:
            raise InputError(f"the seed is {self.seed}, it is 0 or more")

    @property
    def level(self) -> float:
        """The confidence level at which an interval within the margin means equivalence."""
        return 1.0 - 2.0 * self.alpha
