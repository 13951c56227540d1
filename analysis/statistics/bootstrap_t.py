"""The bootstrap-t of a mean over clusters, for values whose t statistic is far from Student's t."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.statistics.resampling import permutation_p

RESAMPLES = 9_999


@dataclass(frozen=True, slots=True)
class BootstrapT:
    """Sorted t statistics of resamples (shape ``(B,)``) around the observed mean, in its place of reference.

    A resample without variance has no t statistic: it is infinitely far from the mean on its side, which
    makes the tests conservative, never liberal.
    """

    mean: float
    se: float
    statistics: NDArray[np.float64]

    def log10_p(self) -> float:
        """Log10 of the symmetric two-sided p-value of the mean against zero.

        Symmetric, because with few values that are not zero the equal-tailed test goes wrong more often.
        """
        extreme = int((np.abs(self.statistics) >= abs(self.mean / self.se)).sum())
        return math.log10(permutation_p(extreme, int(self.statistics.size)))

    def interval(self, level: float) -> tuple[float | None, float | None]:
        """Equal-tailed bootstrap-t interval of the mean; ``None`` for an end that no resample bounds."""
        tails = np.quantile(self.statistics, [(1.0 + level) / 2.0, (1.0 - level) / 2.0], method="nearest")
        ends = [self.mean - float(tail) * self.se for tail in tails]
        low, high = (end if math.isfinite(end) else None for end in ends)
        return low, high

    def log10_p_within(self, low: float, high: float) -> float:
        """Log10 p-value of equivalence: the larger of the one-sided tests against ``low`` and ``high``."""
        above_low = self._share_at_least((self.mean - low) / self.se)
        below_high = self._share_at_most((self.mean - high) / self.se)
        return math.log10(max(above_low, below_high))

    def _share_at_least(self, t: float) -> float:
        size = self.statistics.size
        return permutation_p(size - int(np.searchsorted(self.statistics, t, side="left")), size)

    def _share_at_most(self, t: float) -> float:
        return permutation_p(
            int(np.searchsorted(self.statistics, t, side="right")), int(self.statistics.size)
        )


def bootstrap_t(
    values: NDArray[np.float64],
    clusters: Sequence[Hashable] | NDArray[Any],
    *,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
) -> BootstrapT | None:
    """Resample whole ``clusters`` of ``values`` (shape ``(n,)``, no NaN) and studentise each resample.

    The standard error, here and in the resamples, is CR1's. ``None`` where there are fewer than two
    clusters or their sums do not vary. Source: Efron and Tibshirani 1993, An Introduction to the Bootstrap,
    section 12.5; whole clusters as in Cameron, Gelbach and Miller 2008, section III.
    """
    codes = np.unique(np.asarray(clusters), return_inverse=True)[1]
    sizes = np.bincount(codes).astype(np.float64)
    groups = int(sizes.size)
    if groups < 2:
        return None
    mean = float(values.mean())
    # Around the mean, so that squares of large values do not cancel.
    sums = np.bincount(codes, weights=values - mean)
    correction = groups / (groups - 1)
    spread = float(np.abs(values - mean).max())
    se = math.sqrt(correction * float((sums**2).sum())) / values.size
    if se <= 1e-12 * spread or spread == 0.0:
        return None
    # Clusters that are alike, as the many without any reaction are, are drawn together.
    (sums, sizes), alike = np.unique(np.stack([sums, sizes]), axis=1, return_counts=True)
    counts = rng.multinomial(groups, alike / groups, size=resamples).astype(np.float64)
    n = counts @ sizes
    shift = counts @ sums / n
    around, sized = counts @ sums**2, shift**2 * (counts @ sizes**2)
    squares = around - 2.0 * shift * (counts @ (sums * sizes)) + sized
    # What is left of a complete cancellation is rounding: such a resample has no variance.
    squares[squares <= 1e-12 * (around + sized)] = 0.0
    errors = np.sqrt(correction * squares) / n
    with np.errstate(divide="ignore", invalid="ignore"):
        statistics = shift / errors
    # 0 / 0: the resample repeats the mean exactly and says nothing against it.
    return BootstrapT(mean, se, np.sort(np.nan_to_num(statistics, nan=0.0, posinf=np.inf, neginf=-np.inf)))
