"""A mean whose values share several things at once: a document, and the annotators of either side."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from analysis.statistics.estimates import ROUNDING, MeanEstimate, cluster_mean
from analysis.statistics.two_way import cluster_codes


def multiway_mean(
    values: NDArray[np.float64],
    factors: Sequence[Sequence[Hashable]],
    weights: NDArray[np.float64] | None = None,
) -> MeanEstimate:
    """Mean of ``values`` (shape ``(n,)``, none missing), robust to correlation within each of ``factors``.

    The variance is the alternating sum of the one-way CR1 variances over all intersections of the factors
    (Cameron, Gelbach and Miller 2011, Journal of Business and Economic Statistics 29(2), for any number of
    ways), at least that of the intersection of all, and the largest one-way variance where it is not
    positive; with two factors it is ``two_way_mean``. ``df`` and ``clusters`` are those of the factor with
    fewest levels, t(G - 1). Factors with one level say nothing and are left out, all but the first, which
    decides on the state: it is the unit that was sampled. ``weights`` (positive) make it a weighted mean.
    """
    first = cluster_mean(values, factors[0], correction="CR1")
    if first.state != "ok":
        return first
    shares = np.full(values.size, 1.0 / values.size) if weights is None else weights / weights.sum()
    mean = math.fsum(values * shares)
    influence = (values - mean) * shares
    used = [cluster_codes(factor) for factor in factors]
    used = [codes for place, codes in enumerate(used) if place == 0 or codes.max() > 0]
    total, largest, finest = 0.0, 0.0, 0.0
    for size in range(1, len(used) + 1):
        for chosen in combinations(used, size):
            finest = _variance(influence, np.unique(np.stack(chosen), axis=1, return_inverse=True)[1])
            total += finest if size % 2 else -finest
            if size == 1:
                largest = max(largest, finest)
    variance = max(total, finest) if total > ROUNDING * largest else largest
    fewest = min(int(codes.max()) + 1 for codes in used)
    return MeanEstimate(first.n, 0, fewest, mean, math.sqrt(variance), float(fewest - 1), "ok")


def _variance(influence: NDArray[np.float64], codes: NDArray[np.intp]) -> float:
    sums = np.bincount(codes.reshape(-1), weights=influence)
    return math.fsum(sums**2) * sums.size / (sums.size - 1) if sums.size > 1 else 0.0
