"""A mean whose values are clustered in two ways at once, such as by document and by annotator."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from analysis.statistics.estimates import ROUNDING, State

VarianceFrom = Literal["two-way", "first clustering", "second clustering"]
"""Which variance a two-way standard error is made of; a one-way one where the two-way is not positive."""


@dataclass(frozen=True, slots=True)
class TwoWayMean:
    """A mean with its two-way cluster-robust standard error, in the unit of the values.

    ``clusters`` counts those of the first and of the second clustering, ``cells`` the combinations that
    occur. ``state`` is as in ``MeanEstimate``; ``variance_from`` is ``None`` unless it is ``ok``.
    ``below_one_way`` tells that the two-way variance came out below both one-way variances: what a chance
    draw may do to a difference of variances, never a gain in precision to rely on.
    """

    n: int
    missing: int
    clusters: tuple[int, int]
    cells: int
    mean: float | None
    se: float | None
    df: float | None
    state: State
    variance_from: VarianceFrom | None
    below_one_way: bool = False


def two_way_mean(
    values: Sequence[float | None] | NDArray[np.float64],
    first: Sequence[Hashable] | NDArray[Any],
    second: Sequence[Hashable] | NDArray[Any],
    *,
    noise: float | None = None,
) -> TwoWayMean:
    """Mean of ``values`` (shape ``(n,)``) robust to correlation within ``first`` and within ``second``.

    The variance is V_first + V_second - V_cells, at least V_cells, each the CR1 variance of
    ``cluster_mean``, cells being the combinations of both clusterings, each term with its own factor
    G / (G - 1); the reference is t with
    min(G_first, G_second) - 1 degrees of freedom (Cameron, Gelbach and Miller 2011, Journal of Business
    and Economic Statistics 29(2), section 2). The further factor (N - 1) / (N - k) of some packages is 1
    for a mean. A sum that is not positive, which chance allows, has no standard error: the larger of the
    one-way variances then stands in, as ``variance_from`` says (MacKinnon, Nielsen and Webb 2024, arXiv
    2406.08880, discuss taking the largest of the three always, which is more conservative).

    ``None`` and NaN are missing: counted and left out, with their clusters. ``noise`` as in
    ``cluster_mean``. ``too few`` are fewer than two clusters of either kind.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if not len(first) == len(second) == numbers.size:
        raise ValueError(f"{numbers.size} values, {len(first)} and {len(second)} clusters")
    seen = ~np.isnan(numbers)
    missing = int(numbers.size - seen.sum())
    numbers = numbers[seen]
    n = int(numbers.size)
    if n == 0:
        return TwoWayMean(0, missing, (0, 0), 0, None, None, None, "no data", None)
    one, two = (cluster_codes(names, seen) for names in (first, second))
    cell = cell_codes(one, two)
    groups = (int(one.max()) + 1, int(two.max()) + 1)
    cells = int(cell.max()) + 1
    mean = math.fsum(numbers) / n
    if noise is None:
        noise = ROUNDING * float(np.abs(numbers).max())
    if min(groups) < 2:
        return TwoWayMean(n, missing, groups, cells, mean, None, None, "too few", None)
    flat = TwoWayMean(n, missing, groups, cells, mean, None, None, "degenerate", None)
    if float(np.ptp(numbers)) <= noise:
        return flat
    residuals = (numbers - mean) / n
    parts = [_cr1(residuals, codes) for codes in (one, two, cell)]
    variance, source = combine(*parts)
    if math.sqrt(variance) <= noise:
        return flat
    return TwoWayMean(
        n,
        missing,
        groups,
        cells,
        mean,
        math.sqrt(variance),
        float(min(groups) - 1),
        "ok",
        source,
        source == "two-way" and variance < min(parts[:2]),
    )


def combine(first: float, second: float, cells: float) -> tuple[float, VarianceFrom]:
    """The two-way variance of its three parts and where it comes from: the larger one-way if not positive.

    It is at least the variance of the combinations: what is taken off for counting them twice must not leave
    less than they have themselves, as it may where nothing is correlated. A sum within rounding of zero is
    not positive either.
    """
    total = first + second - cells
    if total > ROUNDING * max(first, second):
        return max(total, cells), "two-way"
    return (first, "first clustering") if first >= second else (second, "second clustering")


def cluster_codes(
    names: Sequence[Hashable] | NDArray[Any], seen: NDArray[np.bool_] | None = None
) -> NDArray[np.intp]:
    """Number the clusters 0, 1, ... without gaps, those of the values that are ``seen`` only."""
    if isinstance(names, np.ndarray) and names.dtype != object:
        kept = names
    else:
        # An array would make 1 and "1" one name; dictionaries go by equality.
        numbers: dict[Hashable, int] = {}
        kept = np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.intp)
    if seen is not None:
        kept = kept[seen]
    return np.unique(kept, return_inverse=True)[1].astype(np.intp)


def cell_codes(first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.intp]:
    """Number the combinations of two gapless codings that occur."""
    return cluster_codes(first * (int(second.max(initial=0)) + 1) + second)


def _cr1(residuals: NDArray[np.float64], codes: NDArray[np.intp]) -> float:
    """CR1 variance of a mean from residuals divided by n; 0 for a single cluster, whose sum is 0."""
    sums = np.bincount(codes, weights=residuals)
    groups = sums.size
    return math.fsum(sums**2) * groups / (groups - 1) if groups > 1 else 0.0
