"""Shares: wins, ties and losses of pairs, and Wilson's interval, also for pairs that share segments."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.statistics.estimates import cluster_mean


@dataclass(frozen=True, slots=True)
class Counts:
    """Pairs in which the original won, tied or lost."""

    wins: int
    ties: int
    losses: int

    @property
    def total(self) -> int:
        """All pairs counted."""
        return self.wins + self.ties + self.losses


def count_wins(deltas: NDArray[np.float64], tie_threshold: float) -> Counts:
    """Count deltas (original minus perturbed, no NaN) above, within and below ±``tie_threshold``."""
    wins = int((deltas > tie_threshold).sum())
    losses = int((deltas < -tie_threshold).sum())
    return Counts(wins, int(deltas.size) - wins - losses, losses)


def wilson(successes: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a share, for independent trials; ``n`` must be positive.

    Source: Wilson 1927, Journal of the American Statistical Association 22(158).
    """
    if not 0 <= successes <= n or n == 0:
        raise ValueError(f"{successes} of {n} is no share")
    return _score_interval(successes / n, n, level)


def _score_interval(share: float, n: float, level: float) -> tuple[float, float]:
    from scipy.stats import norm

    z = float(norm.ppf((1.0 + level) / 2.0))
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # At 0 and n of n one end is exact; rounding must not put it on the wrong side.
    return (0.0 if share == 0.0 else centre - half, 1.0 if share == 1.0 else centre + half)


def cluster_wilson(
    successes: NDArray[np.bool_],
    clusters: Sequence[Hashable] | NDArray[Any],
    level: float = 0.95,
) -> tuple[float, float]:
    """Wilson's interval of a share of ``successes`` (shape ``(n,)``, n positive) for trials in ``clusters``.

    The number of trials is divided by the design effect, the squared CR2 standard error of the share over
    that of independent trials, and by (t_G / t_n)², the squared ratio of the t quantiles at the degrees of
    freedom that the clusters leave and at n - 1 (Korn and Graubard 1998, Survey Methodology 24(2), there
    for Clopper-Pearson's interval). With a trial a cluster it is Wilson's interval. The number is never
    raised: correlation must not claim more than independent trials would give. Where the clusters show no
    variance (all trials alike, one cluster), each cluster counts as one trial.
    """
    from scipy.stats import t as student

    n = int(successes.size)
    share = int(successes.sum()) / n
    estimate = cluster_mean(successes.astype(np.float64), clusters)
    if estimate.se is None or estimate.df is None:
        return _score_interval(share, float(estimate.clusters), level)
    design_effect = estimate.se**2 * (n - 1) / (share * (1.0 - share))
    tail = (1.0 + level) / 2.0
    quantiles = float(student.ppf(tail, estimate.df) / student.ppf(tail, n - 1))
    return _score_interval(share, min(float(n), n / (design_effect * quantiles**2)), level)
