"""Estimates of a difference of two means, where a unit may have been scored under one condition only."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.equivalence.bootstrap import crossed_resamples, usable_resamples
from analysis.equivalence.estimate import Estimate, two_way_notes
from analysis.equivalence.options import Method
from analysis.equivalence.pairs import ScorePairs
from analysis.statistics.estimates import State
from analysis.statistics.two_way import cell_codes, cluster_codes, combine

Codes = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class _Samples:
    """All scores in one column: ``residuals`` from the mean of their condition; ``second`` says which."""

    values: NDArray[np.float64]
    residuals: NDArray[np.float64]
    second: NDArray[np.bool_]
    doc: Codes | None
    annotator: Codes | None


def unpaired_estimate(
    pairs: ScorePairs, method: Method, *, resamples: int = 10_000, seed: int = 0
) -> Estimate:
    """Mean of second minus mean of first, over all scores of each; rows with neither are missing.

    A difference of two means is the coefficient of a regression on the condition. ``naive``: Welch's test.
    ``document``, ``annotator``: CR2 of that regression with Satterthwaite df, clusters may hold scores of
    both conditions (then what they share cancels) or of one. ``two-way``: the CR2 variances of both
    clusterings less that of their combinations, and the smaller df of the two; CR1 would be too small
    where the conditions were scored by different annotators. ``too few``: a condition within one
    cluster.
    """
    samples = _samples(pairs)
    n_first, n_second = int((~samples.second).sum()), int(samples.second.sum())
    mean_first = float(samples.values[~samples.second].mean()) if n_first else None
    mean_second = float(samples.values[samples.second].mean()) if n_second else None
    chosen = {
        Method.DOCUMENT: (samples.doc, None),
        Method.ANNOTATOR: (None, samples.annotator),
        Method.TWO_WAY: (samples.doc, samples.annotator),
        Method.BOOTSTRAP: (samples.doc, samples.annotator),
    }
    doc, annotator = chosen.get(method, (None, None))
    se, df, drawn = None, None, None
    notes: tuple[str, ...] = ()
    state: State
    if mean_first is None or mean_second is None:
        state = "no data"
    elif min(n_first, n_second) < 2 or _one_cluster(samples, doc) or _one_cluster(samples, annotator):
        state = "too few"
    else:
        if method is Method.NAIVE:
            se, df = _welch(samples)
        elif method is Method.BOOTSTRAP:
            drawn, se, notes = _resampled(samples, resamples, seed, pairs.noise)
        else:
            se, df, notes = _robust(samples, doc, annotator)
        state = "ok"
        if se is None or se <= pairs.noise or float(np.ptp(samples.residuals)) <= pairs.noise:
            state, se, df, drawn = "degenerate", None, None, None
    return Estimate(
        n_first + n_second,
        int((np.isnan(pairs.first) & np.isnan(pairs.second)).sum()),
        mean_first,
        mean_second,
        None if mean_first is None or mean_second is None else mean_second - mean_first,
        se,
        df,
        state,
        None if doc is None else int(doc.max(initial=-1)) + 1,
        None if annotator is None else int(annotator.max(initial=-1)) + 1,
        resampled=drawn,
        notes=notes,
    )


def _samples(pairs: ScorePairs) -> _Samples:
    known = np.concatenate([~np.isnan(pairs.first), ~np.isnan(pairs.second)])
    values = np.concatenate([pairs.first, pairs.second])[known]
    second = np.repeat([False, True], pairs.first.size)[known]
    doc, annotator = (
        None if codes is None else cluster_codes(np.concatenate([codes, codes])[known])
        for codes in (pairs.doc, pairs.annotator)
    )
    residuals = values.copy()
    for side in (~second, second):
        if side.any():
            residuals[side] -= values[side].mean()
    return _Samples(values, residuals, second, doc, annotator)


def _one_cluster(samples: _Samples, codes: Codes | None) -> bool:
    if codes is None:
        return False
    return any(np.unique(codes[side]).size < 2 for side in (samples.second, ~samples.second))


def _welch(samples: _Samples) -> tuple[float, float | None]:
    """Standard error and df of Welch's test (Welch 1947, Biometrika 34)."""
    parts = []
    for side in (samples.second, ~samples.second):
        n = int(side.sum())
        parts.append((math.fsum(samples.residuals[side] ** 2) / (n - 1) / n, n - 1))
    variance = parts[0][0] + parts[1][0]
    if variance == 0.0:
        return 0.0, None
    return math.sqrt(variance), variance**2 / sum(part**2 / df for part, df in parts)


def _robust(
    samples: _Samples, doc: Codes | None, annotator: Codes | None
) -> tuple[float, float, tuple[str, ...]]:
    if doc is not None and annotator is not None:
        by_doc, by_annotator = (_cr2(samples, codes) for codes in (doc, annotator))
        variance, source = combine(by_doc[0], by_annotator[0], _cr2(samples, cell_codes(doc, annotator))[0])
        below = source == "two-way" and variance < min(by_doc[0], by_annotator[0])
        return math.sqrt(variance), min(by_doc[1], by_annotator[1]), two_way_notes(source, below)
    codes = doc if doc is not None else annotator
    if codes is None:
        raise ValueError("a cluster-robust difference needs clusters")
    variance, df = _cr2(samples, codes)
    return math.sqrt(variance), df, ()


def _cr2(samples: _Samples, codes: Codes) -> tuple[float, float]:
    """CR2 variance of the difference and its Satterthwaite df (Pustejovsky and Tipton 2018, eqs. 5 and 11).

    In a regression on the condition alone the hat matrix is 1 / n_k within condition k, so that the
    adjustment divides a cluster's sum in condition k by sqrt(1 - q) with q its share of n_k, as for
    one mean. The quadratic form has the matrix P with P_gh = [g = h] sum_k q_gk / (n_k (1 - q_gk)) - sum_k
    z_gk z_hk / n_k, z = q / sqrt(1 - q); df = trace² / sum of squares.
    """
    groups = int(codes.max()) + 1
    sizes = np.array([(~samples.second).sum(), samples.second.sum()], dtype=np.float64)
    shares = np.empty((groups, 2))
    sums = np.empty((groups, 2))
    for k, side in enumerate((~samples.second, samples.second)):
        shares[:, k] = np.bincount(codes[side], minlength=groups) / sizes[k]
        sums[:, k] = np.bincount(codes[side], weights=samples.residuals[side], minlength=groups) / sizes[k]
    adjusted = sums / np.sqrt(1.0 - shares)
    variance = math.fsum((adjusted[:, 1] - adjusted[:, 0]) ** 2)
    z = shares / np.sqrt(1.0 - shares) / np.sqrt(sizes)
    own = (z**2).sum(axis=1)
    diagonal = (shares / sizes).sum(axis=1)
    squares = float((diagonal**2).sum() + ((z.T @ z) ** 2).sum() - (own**2).sum())
    return variance, float(diagonal.sum()) ** 2 / squares


def _resampled(
    samples: _Samples, resamples: int, seed: int, noise: float
) -> tuple[NDArray[np.float64] | None, float | None, tuple[str, ...]]:
    parts = [
        (
            samples.values[side],
            None if samples.doc is None else samples.doc[side],
            None if samples.annotator is None else samples.annotator[side],
        )
        for side in (~samples.second, samples.second)
    ]
    means = crossed_resamples(parts, resamples, seed)
    return usable_resamples(means[:, 1] - means[:, 0], noise)
