"""Pairs of systems: differences without rounding, and how often two rankings agree on the better one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.statistics.estimates import ROUNDING


@dataclass(frozen=True, slots=True)
class PairwiseAccuracy:
    """Pairs of systems that two rankings order alike. ``accuracy`` is ``None`` where there is no pair.

    ``missing`` pairs lack a score and are in none of the other counts.
    """

    accuracy: float | None
    agreeing: int
    pairs: int
    gold_ties: int
    metric_ties: int
    missing: int


def system_pairs(systems: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First and second system of every pair, each of shape ``(systems * (systems - 1) / 2,)``."""
    first, second = np.triu_indices(systems, 1)
    return first, second


def rounding(values: NDArray[np.float64]) -> float:
    """The size of difference that is rounding among such values (any shape): 1e-12 of the largest one."""
    known = np.abs(values[np.isfinite(values)])
    return ROUNDING * float(known.max(initial=0.0))


def settled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same values (any shape), with those that differ by rounding alone made equal.

    MQM penalties are sums of tenths, so that the same penalty may be stored as two numbers.
    """
    known = ~np.isnan(values)
    unique, places = np.unique(values[known], return_inverse=True)
    if not unique.size:
        return values
    starts = np.concatenate(([True], np.diff(unique) > rounding(unique)))
    result = values.copy()
    result[known] = unique[starts][np.cumsum(starts) - 1][places.reshape(-1)]
    return result


def pair_differences(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """First minus second system of every pair, NaN if missing: shape ``(systems, …)`` to ``(pairs, …)``."""
    first, second = system_pairs(values.shape[0])
    difference: NDArray[np.float64] = values[first] - values[second]
    return difference


def signs(differences: NDArray[np.float64], tolerance: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """Signs of differences, 0 within ``tolerance``, NaN where missing."""
    result: NDArray[np.float64] = np.where(np.abs(differences) <= tolerance, 0.0, np.sign(differences))
    return result


def pairwise_accuracy(gold: NDArray[np.float64], metric: NDArray[np.float64]) -> PairwiseAccuracy:
    """Share of pairs of systems that the metric orders as humans do; system scores of shape ``(systems,)``.

    Kocmi et al. 2021 ("To Ship or Not to Ship", section 4). A tie is a difference of rounding size; a pair
    tied on both sides agrees, a pair tied on one side only does not (as mt-metrics-eval counts them).
    """
    human = signs(pair_differences(gold), rounding(gold))
    automatic = signs(pair_differences(metric), rounding(metric))
    known = ~(np.isnan(human) | np.isnan(automatic))
    pairs = int(known.sum())
    agreeing = int((human == automatic)[known].sum())
    return PairwiseAccuracy(
        accuracy=agreeing / pairs if pairs else None,
        agreeing=agreeing,
        pairs=pairs,
        gold_ties=int((human[known] == 0).sum()),
        metric_ties=int((automatic[known] == 0).sum()),
        missing=known.size - pairs,
    )
