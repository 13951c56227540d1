"""What a reader has to know before believing a row: few clusters, clustering left out, odd variances."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.equivalence.estimate import Estimate
from analysis.equivalence.options import Design, EquivalenceOptions, Method
from analysis.equivalence.pairs import ScorePairs

FEW_CLUSTERS = 10
"""Below this number of documents or annotators no cluster-robust test can be relied on."""
FEW_DF = 4.0
"""Below these degrees of freedom the t approximation of CR2 is unreliable (Tipton 2015, Psychological
Methods 20(3))."""


def cautions(
    pairs: ScorePairs, method: Method, found: Estimate, options: EquivalenceOptions
) -> tuple[str, ...]:
    """Sentences about one estimate, the same for each of its margins."""
    return (*found.notes, *_left_out(pairs, method, options), *_clusters(method, found, options))


def _left_out(pairs: ScorePairs, method: Method, options: EquivalenceOptions) -> Iterator[str]:
    if method is Method.NAIVE:
        if pairs.doc is None and pairs.annotator is None:
            yield "documents and annotators are not known: where scores share them, this is too eager"
    elif method is Method.ANNOTATOR_MEANS:
        yield "holds for these documents: what annotators share in them is not in the standard error"
    elif method in (Method.DOCUMENT, Method.BOOTSTRAP) and pairs.annotator is None:
        if pairs.paired_by == "unit mean":
            yield (
                "different annotators scored the two conditions of a unit: pairs of means, clustered by "
                "document only"
            )
    elif method is Method.DOCUMENT:
        yield "holds for these annotators: what documents share by annotator is not in the standard error"
    elif method is Method.ANNOTATOR and pairs.doc is not None:
        yield "holds for these documents: what annotators share by document is not in the standard error"
    if options.design is Design.PAIRED and pairs.unmatched:
        yield f"{pairs.unmatched} units occur under one condition only and are in no pair"


def _clusters(method: Method, found: Estimate, options: EquivalenceOptions) -> Iterator[str]:
    if found.state == "no data":
        return
    counts = [
        (count, name)
        for count, name in ((found.documents, "document"), (found.annotators, "annotator"))
        if count is not None and count < FEW_CLUSTERS
    ]
    for count, name in counts:
        if count < 2:
            yield f"{count} {name}: nothing can be said of other {name}s, so there is no test"
        elif method is Method.BOOTSTRAP:
            yield f"{count} {name}s: fewer than {FEW_CLUSTERS} make a bootstrap interval too narrow"
        else:
            yield f"{count} {name}s: fewer than {FEW_CLUSTERS} calibrate a cluster-robust test poorly"
    if found.df is not None and found.df < FEW_DF and method is not Method.NAIVE:
        from scipy.stats import t as student

        reach = float(student.ppf(1.0 - options.alpha, found.df))
        yield (
            f"{found.df:.1f} degrees of freedom: the interval reaches {reach:.1f} standard errors to each "
            "side, so that hardly any margin can be shown to hold"
        )
