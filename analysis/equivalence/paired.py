"""Estimates of a mean difference of pairs, and of annotators' differences of means."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from analysis.equivalence.bootstrap import crossed_resamples, usable_resamples
from analysis.equivalence.estimate import Estimate, two_way_notes
from analysis.equivalence.options import Method
from analysis.equivalence.pairs import ScorePairs
from analysis.statistics.estimates import MeanEstimate, cluster_mean
from analysis.statistics.two_way import TwoWayMean, cluster_codes, two_way_mean


def paired_estimate(pairs: ScorePairs, method: Method, *, resamples: int = 10_000, seed: int = 0) -> Estimate:
    """Mean of second - first over the rows with both scores; a row without one of them is missing."""
    used = pairs.rows(~(np.isnan(pairs.first) | np.isnan(pairs.second)))
    missing = int(pairs.first.size - used.first.size)
    differences = used.second - used.first
    if method is Method.BOOTSTRAP:
        return _bootstrap(used, missing, differences, resamples, seed)
    if method is Method.TWO_WAY:
        if used.doc is None or used.annotator is None:
            raise ValueError("two-way clustering needs documents and annotators")
        both = two_way_mean(differences, used.doc, used.annotator, noise=used.noise)
        return _estimate(used, missing, both, *both.clusters)
    clusters = {Method.DOCUMENT: used.doc, Method.ANNOTATOR: used.annotator}.get(method)
    mean = cluster_mean(differences, clusters, noise=used.noise)
    documents = mean.clusters if method is Method.DOCUMENT else None
    annotators = mean.clusters if method is Method.ANNOTATOR else None
    return _estimate(used, missing, mean, documents, annotators)


def _estimate(
    used: ScorePairs,
    missing: int,
    mean: MeanEstimate | TwoWayMean,
    documents: int | None,
    annotators: int | None,
) -> Estimate:
    notes: tuple[str, ...] = ()
    if isinstance(mean, TwoWayMean) and mean.variance_from is not None:
        notes = two_way_notes(mean.variance_from, mean.below_one_way)
    return Estimate(
        mean.n,
        missing,
        mean_of(used.first),
        mean_of(used.second),
        mean.mean,
        mean.se,
        mean.df,
        mean.state,
        documents,
        annotators,
        notes=notes,
    )


def _bootstrap(
    used: ScorePairs, missing: int, differences: NDArray[np.float64], resamples: int, seed: int
) -> Estimate:
    doc, annotator = (None if codes is None else cluster_codes(codes) for codes in (used.doc, used.annotator))
    counts = [None if codes is None else int(codes.max(initial=-1)) + 1 for codes in (doc, annotator)]
    plain = cluster_mean(differences, noise=used.noise)
    state = "too few" if 1 in counts else plain.state
    drawn, se = None, None
    notes: tuple[str, ...] = ()
    if state == "ok":
        means = crossed_resamples([(differences, doc, annotator)], resamples, seed)[:, 0]
        drawn, se, notes = usable_resamples(means, used.noise)
        state = "degenerate" if se is None else "ok"
    return Estimate(
        plain.n,
        missing,
        mean_of(used.first),
        mean_of(used.second),
        plain.mean,
        se,
        None,
        state,
        documents=counts[0],
        annotators=counts[1],
        resampled=drawn,
        notes=notes,
    )


def annotator_means(pairs: ScorePairs) -> Estimate:
    """Each annotator's mean of second minus their mean of first, over whichever rows have a score.

    The mean over annotators, all of one weight, with the t-test of their differences (G - 1 df): what is
    left of two-way clustering where every annotator counts once. An annotator without scores under both
    conditions is missing.
    """
    if pairs.annotator is None:
        raise ValueError("means by annotator need annotators")
    codes = cluster_codes(pairs.annotator)
    size = int(codes.max(initial=-1)) + 1
    first, second = (_means_by(codes, scores, size) for scores in (pairs.first, pairs.second))
    both = ~(np.isnan(first) | np.isnan(second))
    found = cluster_mean((second - first)[both], noise=pairs.noise)
    return Estimate(
        found.n,
        size - found.n,
        mean_of(first[both]),
        mean_of(second[both]),
        found.mean,
        found.se,
        found.df,
        found.state,
        annotators=found.n,
    )


def _means_by(codes: NDArray[np.intp], scores: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    known = ~np.isnan(scores)
    counts = np.bincount(codes[known], minlength=size)
    sums = np.bincount(codes[known], weights=scores[known], minlength=size)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def mean_of(scores: NDArray[np.float64]) -> float | None:
    """The mean, ``None`` of nothing."""
    return float(scores.mean()) if scores.size else None
