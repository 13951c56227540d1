"""A mean whose values share several things at once: a document, and the annotators of either side."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from analysis.statistics.estimates import MeanEstimate, cluster_mean


def multiway_mean(values: NDArray[np.float64], factors: Sequence[Sequence[Hashable]]) -> MeanEstimate:
    """Mean of ``values`` (shape ``(n,)``, none missing), robust to correlation within each of ``factors``.

    The variance is the alternating sum of the one-way CR1 variances over all intersections of the factors
    (Cameron, Gelbach and Miller 2011, Journal of Business and Economic Statistics 29(2), for any number of
    ways). Where sampling error makes that smaller than a one-way variance,
    the largest of these is taken: a document or a person shared never makes a mean more precise. ``df`` and
    ``clusters`` are those of the factor with fewest levels, t(G - 1). Factors with one level say nothing and
    are left out, all but the first, which decides on the state: it is the unit that was sampled.
    """
    first = cluster_mean(values, factors[0], correction="CR1")
    if first.state != "ok":
        return first
    used = [factor for number, factor in enumerate(factors) if number == 0 or len(set(factor)) > 1]
    levels = [len(set(factor)) for factor in used]
    total, largest = 0.0, 0.0
    for size in range(1, len(used) + 1):
        for chosen in combinations(used, size):
            variance = _variance(values, list(zip(*chosen, strict=True)))
            total += variance if size % 2 else -variance
            if size == 1:
                largest = max(largest, variance)
    se = math.sqrt(max(total, largest))
    fewest = min(levels)
    return MeanEstimate(first.n, 0, fewest, first.mean, se, float(fewest - 1), "ok")


def _variance(values: NDArray[np.float64], clusters: Sequence[Hashable]) -> float:
    # Sums that do not vary between the clusters of an intersection add nothing to the variance.
    estimate = cluster_mean(values, clusters, correction="CR1")
    return 0.0 if estimate.se is None else estimate.se**2
