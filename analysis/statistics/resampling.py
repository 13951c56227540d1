"""Resampling: bootstrap counts of clusters, percentile intervals, p-values of permutations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def resample_counts(clusters: int, resamples: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """How often each of ``clusters`` clusters is drawn, with replacement, in each resample.

    Shape ``(resamples, clusters)``; every row sums to ``clusters``. A statistic that is a ratio of sums over
    clusters is then one matrix product for all resamples.
    """
    return rng.multinomial(clusters, np.full(clusters, 1.0 / clusters), size=resamples)


def percentile_interval(values: NDArray[np.float64], level: float) -> tuple[float, float] | None:
    """The percentile interval of resampled statistics (shape ``(B,)``); NaN resamples are left out.

    ``None`` where fewer than two resamples have a value.
    """
    known = values[~np.isnan(values)]
    if known.size < 2:
        return None
    low, high = np.quantile(known, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return float(low), float(high)


def permutation_p(as_extreme: int, permutations: int) -> float:
    """P-value of a permutation test, (k + 1) / (B + 1): the observed arrangement counts, so it is never 0.

    Source: Phipson and Smyth 2010, Statistical Applications in Genetics and Molecular Biology 9(1).
    """
    if not 0 <= as_extreme <= permutations or permutations == 0:
        raise ValueError(f"{as_extreme} of {permutations} permutations")
    return (as_extreme + 1) / (permutations + 1)
