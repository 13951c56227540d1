"""What every method gives: two means, their difference, and a reference distribution to test it with."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from analysis.statistics.estimates import State, interval, t_test, tost
from analysis.statistics.resampling import percentile_interval, permutation_p


@dataclass(frozen=True, slots=True)
class Estimate:
    """The difference second - first (MIX - DOC) in metric units, with its standard error.

    ``n`` counts what was used: pairs, annotators (per-annotator design) or scores (unpaired design);
    ``missing`` what lacked a score. ``documents`` and ``annotators`` are the clusters that the method took
    account of, else ``None``. The reference is t with ``df``, or ``resampled``: the differences of a
    bootstrap (shape ``(B,)``; ``se`` is then their SD and ``df`` ``None``). ``state`` as in ``MeanEstimate``.
    """

    n: int
    missing: int
    mean_first: float | None
    mean_second: float | None
    difference: float | None
    se: float | None
    df: float | None
    state: State
    documents: int | None = None
    annotators: int | None = None
    resampled: NDArray[np.float64] | None = field(default=None, compare=False, repr=False)
    notes: tuple[str, ...] = ()

    def interval(self, level: float) -> tuple[float, float] | None:
        """Confidence interval of the difference, ``None`` where no test is possible."""
        if self.difference is None or self.se is None:
            return None
        if self.resampled is not None:
            return percentile_interval(self.resampled, level)
        return None if self.df is None else interval(self.difference, self.se, self.df, level)

    def one_sided(self, margin: float) -> tuple[float, float] | None:
        """Log10 p of the two one-sided tests: difference ≤ -``margin``, and difference ≥ ``margin``.

        Of a bootstrap, the shares of resamples beyond the margin, (k + 1) / (B + 1).
        """
        if self.difference is None or self.se is None:
            return None
        if self.resampled is not None:
            return _share(self.resampled <= -margin), _share(self.resampled >= margin)
        if self.df is None:
            return None
        test = tost(self.difference, self.se, self.df, -margin, margin)
        return test.log10_p_low, test.log10_p_high

    def log10_p_difference(self) -> float | None:
        """Log10 of the two-sided p-value of the difference against zero."""
        if self.difference is None or self.se is None:
            return None
        if self.resampled is not None:
            smaller = min(_share(self.resampled <= 0.0), _share(self.resampled >= 0.0))
            return min(0.0, math.log10(2.0) + smaller)
        return None if self.df is None else t_test(self.difference, self.se, self.df)


def _share(beyond: NDArray[np.bool_]) -> float:
    return math.log10(permutation_p(int(beyond.sum()), int(beyond.size)))


def two_way_notes(variance_from: str, below_one_way: bool) -> tuple[str, ...]:
    """What a reader has to know about where a two-way variance came from."""
    if variance_from != "two-way":
        which = "documents" if variance_from == "first clustering" else "annotators"
        return (f"the two-way variance is not positive; that of {which} alone, the larger, stands in",)
    if below_one_way:
        return ("the two-way variance is below both one-way variances: compare their rows",)
    return ()
