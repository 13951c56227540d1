"""Methods by name: which a table's columns allow, which is the default, and what each takes account of."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from analysis.equivalence.estimate import Estimate
from analysis.equivalence.options import Design, EquivalenceOptions, Method
from analysis.equivalence.paired import annotator_means, paired_estimate
from analysis.equivalence.pairs import ScorePairs
from analysis.equivalence.unpaired import unpaired_estimate

_DESCRIPTIONS: Mapping[Method, str] = {
    Method.NAIVE: "takes rows as independent (paired t-test)",
    Method.DOCUMENT: "robust to clustering by document alone (CR2, t with Satterthwaite df)",
    Method.ANNOTATOR: "robust to clustering by annotator alone (CR2, t with Satterthwaite df)",
    Method.TWO_WAY: "robust to clustering by document and by annotator (CR1, t with min(G) - 1 df)",
    Method.BOOTSTRAP: "percentile bootstrap over documents and annotators, those that are known",
    Method.ANNOTATOR_MEANS: "one difference of means an annotator, t over annotators",
}
_UNPAIRED_DESCRIPTIONS: Mapping[Method, str] = {
    Method.NAIVE: "takes scores as independent (Welch's test)",
    Method.TWO_WAY: "robust to clustering by document and by annotator (CR2, t with the smaller of the two "
    "Satterthwaite df)",
}

_MOST_CAUTIOUS_FIRST = (
    Method.ANNOTATOR_MEANS,
    Method.TWO_WAY,
    Method.DOCUMENT,
    Method.ANNOTATOR,
    Method.NAIVE,
)


def available(design: Design, *, doc: bool, annotator: bool) -> tuple[Method, ...]:
    """The methods that a design allows where documents and annotators are known or not, naive first."""
    found = [Method.NAIVE]
    if design is Design.PER_ANNOTATOR:
        return (*found, Method.ANNOTATOR_MEANS) if annotator else tuple(found)
    found += [Method.DOCUMENT] if doc else []
    found += [Method.ANNOTATOR] if annotator else []
    found += [Method.TWO_WAY] if doc and annotator else []
    found += [Method.BOOTSTRAP] if doc or annotator else []
    return tuple(found)


def describe(method: Method, design: Design) -> str:
    """What a method takes account of, in a phrase."""
    if design is Design.PER_ANNOTATOR and method is Method.NAIVE:
        return "takes rows as independent (paired t-test, or Welch's where rows hold one score)"
    if design is Design.UNPAIRED and method in _UNPAIRED_DESCRIPTIONS:
        return _UNPAIRED_DESCRIPTIONS[method]
    return _DESCRIPTIONS[method]


def default_method(methods: tuple[Method, ...]) -> Method:
    """The method that takes account of every clustering that is known."""
    return next(method for method in _MOST_CAUTIOUS_FIRST if method in methods)


def estimate(pairs: ScorePairs, method: Method, options: EquivalenceOptions) -> Estimate:
    """The difference second - first of ``pairs`` by a method ``available`` under the design of ``options``.

    Beside per-annotator means the naive test is the paired one where every scored row has both scores,
    else Welch's.
    """
    if method is Method.ANNOTATOR_MEANS:
        return annotator_means(pairs)
    single = not np.array_equal(np.isnan(pairs.first), np.isnan(pairs.second))
    if options.design is Design.UNPAIRED or (options.design is Design.PER_ANNOTATOR and single):
        return unpaired_estimate(pairs, method, resamples=options.resamples, seed=options.seed)
    return paired_estimate(pairs, method, resamples=options.resamples, seed=options.seed)
