"""Krippendorff's alpha in closed form: any number of annotators, missing values, nominal to interval data.

alpha = 1 - D_o / D_e, with the observed disagreement D_o between values of one unit and the expected one D_e
between all values that can be paired (Krippendorff 2004, Content Analysis, 2nd ed., ch. 11). Over pairs both
are sums of a squared difference δ², and none of the pairs has to be formed:

- interval, δ² = (x - y)²: from each unit's count, sum and sum of squares;
- ordinal: δ² there, of the numbers of values between x and y, equals (r_x - r_y)² for r the midrank of a
  value among all pairable ones, so that ordinal alpha is the interval alpha of midranks;
- nominal, δ² = 1 for unlike values: from the counts of equal values per unit and overall.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from analysis.statistics.estimates import ROUNDING
from analysis.statistics.resampling import percentile_interval, resample_counts

State = Literal["ok", "constant", "one unit", "no pairable values"]

MEANINGS: dict[State, str] = {
    "ok": "",
    "constant": "all pairable values are equal: no disagreement is expected, so there is no alpha",
    "one unit": "a single unit with two values or more: nothing to tell it from, so there is no alpha",
    "no pairable values": "no unit has two values, as with one annotator",
}

_BLOCK = 1 << 22
"""Values times resamples worked on at once."""


class Level(StrEnum):
    """What may be said of two values: how far apart, which is the greater, or only whether they are alike."""

    INTERVAL = "interval"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"


@dataclass(frozen=True, slots=True)
class Alpha:
    """Krippendorff's alpha: 1 is full agreement, 0 what chance would give, below 0 systematic disagreement.

    ``units`` have two values or more, ``values`` of them in all; ``dropped_units`` have fewer and are in
    neither; ``missing`` values were NaN. ``observed`` and ``expected`` are D_o and D_e, for ``ordinal`` in
    squared ranks. ``interval`` resamples the ``clusters``; ``undefined_resamples`` had no alpha.
    """

    level: Level
    alpha: float | None
    observed: float | None
    expected: float | None
    units: int
    values: int
    dropped_units: int
    missing: int
    clusters: int
    interval: tuple[float, float] | None
    undefined_resamples: int
    state: State
    confidence: float
    resamples: int
    seed: int


@dataclass(frozen=True, slots=True)
class _Pairable:
    """Values that stand in a unit with another: ``value``, ``unit`` of shape (n,); the others (units,).

    ``value`` is centred (interval) or the place of the value among the distinct ones (ordinal, nominal).
    """

    level: Level
    value: NDArray[np.float64] | NDArray[np.intp]
    unit: NDArray[np.intp]
    size: NDArray[np.intp]
    cluster: NDArray[np.intp]


def krippendorff_alpha(
    values: NDArray[np.float64],
    units: Sequence[Any] | NDArray[Any],
    *,
    level: Level = Level.INTERVAL,
    clusters: Sequence[Any] | NDArray[Any] | None = None,
    resamples: int = 0,
    seed: int = 0,
    confidence: float = 0.95,
) -> Alpha:
    """Alpha of ``values`` (shape ``(n,)``, NaN where missing) given to ``units`` (shape ``(n,)``, sortable).

    Who gave a value does not matter, only that no annotator gave two to one unit. ``nominal`` values are
    numbers of categories. Ordinal values that differ by rounding alone (1e-12 of the largest) are equal.

    With ``resamples``, whole ``clusters`` (shape ``(n,)``, a unit within one; default: each unit for itself)
    are drawn with replacement, D_o and D_e are both taken anew, and the interval is the percentile one: it
    speaks of other units judged by the same annotators. Krippendorff's own bootstrap draws pairs of values
    against a fixed D_e and takes them for independent, which units of one document are not. No interval with
    fewer than two clusters. Nothing depends on the order of the values.
    """
    values = np.asarray(values, dtype=np.float64)
    given = np.asarray(units)
    if given.shape != values.shape:
        raise ValueError(f"{values.size} values and {given.size} units")
    grouping = given if clusters is None else np.asarray(clusters)
    if grouping.shape != values.shape:
        raise ValueError(f"{values.size} values and {grouping.size} clusters")
    all_units = int(np.unique(given).size)
    seen = ~np.isnan(values)
    missing = int(values.size - seen.sum())
    data = _pairable(values[seen], given[seen], grouping[seen], level)

    alpha = observed = expected = interval = None
    undefined = 0
    n, distinct_clusters = int(data.value.size), 0
    state: State = "no pairable values"
    if n:
        distinct_clusters = int(data.cluster.max()) + 1
        state = "one unit" if data.size.size == 1 else "constant" if np.ptp(data.value) == 0 else "ok"
    if state == "ok":
        once = np.ones((1, distinct_clusters))
        within, between, _ = (float(part[0]) for part in _disagreements(data, once))
        observed, expected = within / n, between / (n * (n - 1))
        if expected == 0.0:
            # Values so close together that the squares of their differences vanish.
            state, observed, expected = "constant", None, None
    if state == "ok" and observed is not None and expected is not None:
        alpha = 1.0 - observed / expected
        if resamples and distinct_clusters > 1:
            drawn = _bootstrap(data, distinct_clusters, resamples, np.random.default_rng(seed))
            interval = percentile_interval(drawn, confidence)
            undefined = int(np.isnan(drawn).sum())
    return Alpha(
        level=level,
        alpha=alpha,
        observed=observed,
        expected=expected,
        units=int(data.size.size),
        values=n,
        dropped_units=all_units - int(data.size.size),
        missing=missing,
        clusters=distinct_clusters,
        interval=interval,
        undefined_resamples=undefined,
        state=state,
        confidence=confidence,
        resamples=resamples,
        seed=seed,
    )


def _pairable(
    values: NDArray[np.float64], units: NDArray[Any], clusters: NDArray[Any], level: Level
) -> _Pairable:
    _, unit, size = np.unique(units, return_inverse=True, return_counts=True)
    kept = size[unit] > 1
    _, first, unit = np.unique(unit[kept], return_index=True, return_inverse=True)
    _, cluster_of = np.unique(clusters[kept], return_inverse=True)
    cluster = cluster_of[first]
    if (cluster[unit] != cluster_of).any():
        raise ValueError("a unit stands in two clusters")
    value: NDArray[np.float64] | NDArray[np.intp] = values[kept]
    scale = float(np.abs(value).max(initial=0.0))
    if level is Level.INTERVAL:
        # Spread that is rounding is none; centring keeps the sums of squares exact to the last digits.
        spread = float(np.ptp(value)) if value.size else 0.0
        value = value - value.mean() if spread > ROUNDING * scale else np.zeros(value.size)
    else:
        places = np.round(value / scale, 12) if level is Level.ORDINAL and scale else value
        value = np.unique(places, return_inverse=True)[1]
    return _Pairable(level, value, unit, np.bincount(unit), cluster)


def _bootstrap(
    data: _Pairable, clusters: int, resamples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Alpha of each resample of clusters, shape ``(resamples,)``; NaN where all drawn values are equal."""
    drawn = []
    block = max(1, _BLOCK // data.value.size)
    for start in range(0, resamples, block):
        counts = resample_counts(clusters, min(block, resamples - start), rng).astype(np.float64)
        within, between, n = _disagreements(data, counts)
        between[between == 0.0] = np.nan
        drawn.append(1.0 - within * (n - 1) / between)
    return np.concatenate(drawn)


def _disagreements(
    data: _Pairable, counts: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """n D_o, n (n - 1) D_e and the number of values n, shape ``(B,)`` each.

    ``counts`` (shape ``(B, clusters)``) says how often each cluster stands in the data.
    """
    if data.level is Level.ORDINAL:
        return _ordinal(data, counts)
    groups = counts.shape[1]
    n = counts @ _sums(data.cluster, data.size, groups)
    if data.level is Level.NOMINAL:
        return *_nominal(data, counts, n), n
    within = counts @ _sums(data.cluster, _within_units(data, data.value), groups)
    value_cluster = data.cluster[data.unit]
    sums = counts @ _sums(value_cluster, data.value, groups)
    squares = counts @ _sums(value_cluster, data.value**2, groups)
    between = n * squares - sums**2
    # A resample of equal values leaves rounding here, which is no disagreement.
    return within, 2.0 * np.where(between > ROUNDING * n * squares, between, 0.0), n


def _sums(groups: NDArray[np.intp], weights: NDArray[Any], count: int) -> NDArray[np.float64]:
    return np.bincount(groups, weights=weights, minlength=count).astype(np.float64, copy=False)


def _within_units(data: _Pairable, value: NDArray[Any]) -> NDArray[np.float64]:
    """Each unit's sum of (x - y)² over its ordered pairs, over its number of values less one.

    With m values that is 2 m / (m - 1) times their sum of squares around the unit's mean.
    """
    means = np.bincount(data.unit, weights=value) / data.size
    around = np.bincount(data.unit, weights=(value - means[data.unit]) ** 2)
    return 2.0 * data.size / (data.size - 1) * around


def _nominal(
    data: _Pairable, counts: NDArray[np.float64], n: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    from scipy.sparse import csr_array

    # How often each value stands in each unit: most places are empty where there are many values.
    table = csr_array((np.ones(data.value.size), (data.unit, data.value)))
    alike = table.multiply(table).sum(axis=1)
    within = _sums(data.cluster, (data.size**2 - alike) / (data.size - 1), counts.shape[1])
    grouped = csr_array((np.ones(data.value.size), (data.cluster[data.unit], data.value)))
    totals: NDArray[np.float64] = (grouped.T @ counts.T).T
    return counts @ within, n**2 - (totals**2).sum(axis=1)


def _ordinal(
    data: _Pairable, counts: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """As ``_disagreements``; the ranks are those among the values drawn, so that each row has its own."""
    parts = np.empty((3, len(counts)))
    for row, drawn in enumerate(counts):
        times = drawn[data.cluster]
        weights = times[data.unit]
        together = np.bincount(data.value, weights=weights)
        ranks = np.cumsum(together) - together / 2.0
        n = together.sum()
        ranks -= n / 2.0  # the mean rank
        # Ranks are halves, so that sums of equal ones are exact: between is 0 for equal values.
        parts[:, row] = (
            times @ _within_units(data, ranks[data.value]),
            2.0 * n * float(together @ ranks**2),
            n,
        )
    return parts[0], parts[1], parts[2]
