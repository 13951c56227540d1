"""Have two conditions equally many errors? Paired on the same outputs, with three checks of robustness."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations, product

import numpy as np

from analysis.annotations.boundaries import BoundaryShare, boundary_share
from analysis.statistics.estimates import (
    EquivalenceTest,
    check_bounds,
    cluster_mean,
    equivalence_test,
    interval,
    smallest_detectable,
    tost,
)
from analysis.statistics.multiway import multiway_mean
from challenge_sets.annotations import Annotation, ErrorSpan

MARGIN = 0.5
"""Errors per annotation within which conditions count as equal (Kim et al. 2026, the third hypothesis)."""

Unit = tuple[str, str, int | None]
"""One output: system, document, line."""


class Variant(StrEnum):
    """What is counted. The study reports three variants without describing them: these are ours."""

    ALL = "all errors"
    MAJOR = "major errors only"
    PLACED = "without omissions"
    ATTENTIVE = "attentive annotators only"


MEANINGS: dict[Variant, str] = {
    Variant.ALL: "every error marked",
    Variant.MAJOR: "minor and undecided errors do not count: where annotators differ most is left out",
    Variant.PLACED: "only errors with a place in the translation count",
    Variant.ATTENTIVE: "only annotators whose damaged outputs scored lower more often than chance allows "
    "(one-sided sign test); without attention checks nobody is left",
}


@dataclass(frozen=True, slots=True)
class Side:
    """One condition on the shared outputs: errors per output, its share without errors, their places."""

    condition: str
    mean: float | None
    error_free_share: float | None
    boundary: BoundaryShare


@dataclass(frozen=True, slots=True)
class Comparison:
    """Errors per output of ``first`` minus ``second`` on the outputs of both; positive: the first has more.

    ``test`` holds the mean difference, its standard error, TOST against ±``margin`` and the verdict (the
    state's name where no test is possible). ``tost_interval`` is the 1 - 2 alpha interval that the TOST goes
    by. ``smallest_detectable`` is the difference that a two-sided test at alpha would find with 80 % power.
    ``clustered_by`` names what the standard error is robust to. ``naive_log10_p`` is the TOST of an ordinary
    paired t-test, which takes all outputs to be independent; it is there to be compared with, not believed.
    ``error_free_points`` and ``boundary_points`` are differences in percentage points.
    """

    variant: Variant
    first: Side
    second: Side
    outputs: int
    only_first: int
    only_second: int
    test: EquivalenceTest
    tost_interval: tuple[float, float] | None
    smallest_detectable: float | None
    clustered_by: tuple[str, ...]
    naive_log10_p: float | None
    error_free_points: float | None
    boundary_points: float | None
    margin: float
    alpha: float


def compare_conditions(
    conditions: Mapping[str, Sequence[Annotation]],
    attentive: Mapping[str, Collection[str]],
    *,
    margin: float = MARGIN,
    alpha: float = 0.05,
) -> list[Comparison]:
    """Every pair of conditions, in the order given, under every variant.

    ``conditions`` are real annotations by condition, ``attentive`` the annotators of each who pass checks.
    """
    check_bounds(-margin, margin)
    found = []
    for first, second in combinations(conditions, 2):
        for variant in Variant:
            sides = [
                _by_unit(
                    [
                        annotation
                        for annotation in conditions[name]
                        if variant is not Variant.ATTENTIVE or annotation.annotator in attentive[name]
                    ]
                )
                for name in (first, second)
            ]
            found.append(_compare(variant, (first, second), sides, margin, alpha))
    return found


def counted(variant: Variant, spans: Sequence[ErrorSpan]) -> list[ErrorSpan]:
    """The errors that the variant counts."""
    if variant is Variant.MAJOR:
        return [span for span in spans if span.severity == "major"]
    if variant is Variant.PLACED:
        return [span for span in spans if not span.omission]
    return list(spans)


def _by_unit(annotations: Sequence[Annotation]) -> dict[Unit, list[Annotation]]:
    units: dict[Unit, list[Annotation]] = defaultdict(list)
    for annotation in annotations:
        units[annotation.system, annotation.doc, annotation.line].append(annotation)
    return units


def _compare(
    variant: Variant,
    names: tuple[str, str],
    sides: Sequence[Mapping[Unit, list[Annotation]]],
    margin: float,
    alpha: float,
) -> Comparison:
    shared = sorted(sides[0].keys() & sides[1].keys())
    # Several annotations of one output are averaged: an output counts once a condition.
    means = np.array(
        [
            [np.mean([len(counted(variant, found.spans)) for found in side[unit]]) for unit in shared]
            for side in sides
        ]
    ).reshape(2, len(shared))
    test, clustered_by = _test(variant, shared, sides, margin, alpha)
    estimate = test.estimate
    between = detectable = naive = None
    if estimate.mean is not None and estimate.se is not None and estimate.df is not None:
        between = interval(estimate.mean, estimate.se, estimate.df, 1.0 - 2.0 * alpha)
        detectable = smallest_detectable(estimate.se, estimate.df, alpha=alpha)
        plain = cluster_mean(means[0] - means[1])
        if plain.mean is not None and plain.se is not None and plain.df is not None:
            naive = tost(plain.mean, plain.se, plain.df, -margin, margin).log10_p
    first, second = (
        _side(name, variant, side, shared, alpha) for name, side in zip(names, sides, strict=True)
    )
    return Comparison(
        variant=variant,
        first=first,
        second=second,
        outputs=len(shared),
        only_first=len(sides[0]) - len(shared),
        only_second=len(sides[1]) - len(shared),
        test=test,
        tost_interval=between,
        smallest_detectable=detectable,
        clustered_by=clustered_by,
        naive_log10_p=naive,
        error_free_points=_points(first.error_free_share, second.error_free_share),
        boundary_points=_points(first.boundary.share, second.boundary.share),
        margin=margin,
        alpha=alpha,
    )


def _test(
    variant: Variant,
    shared: Sequence[Unit],
    sides: Sequence[Mapping[Unit, list[Annotation]]],
    margin: float,
    alpha: float,
) -> tuple[EquivalenceTest, tuple[str, ...]]:
    """TOST and difference test, robust to what outputs share: the document, the annotators of either side.

    Every annotation of the first condition is held against every one of the second of the same output, each
    output with the same weight in all, so that each person is a cluster of their own.
    """
    differences, weights = [], []
    documents, people = [], []
    for unit in shared:
        first, second = sides[0][unit], sides[1][unit]
        for one, other in product(first, second):
            differences.append(len(counted(variant, one.spans)) - len(counted(variant, other.spans)))
            weights.append(1.0 / (len(first) * len(second)))
            documents.append(unit[1])
            people.append((one.annotator, other.annotator))
    factors: dict[str, Sequence[Hashable]] = {"document": documents}
    if all(one == other for one, other in people):
        factors["annotator"] = [one for one, _ in people]
    else:
        factors["annotator of the first"] = [one for one, _ in people]
        factors["annotator of the second"] = [other for _, other in people]
    used = tuple(name for name, levels in factors.items() if name == "document" or len(set(levels)) > 1)
    estimate = multiway_mean(
        np.array(differences, dtype=np.float64), list(factors.values()), np.array(weights)
    )
    return equivalence_test(estimate, -margin, margin, alpha=alpha), used


def _side(
    condition: str,
    variant: Variant,
    units: Mapping[Unit, list[Annotation]],
    shared: Sequence[Unit],
    alpha: float,
) -> Side:
    annotations = [annotation for unit in shared for annotation in units[unit]]
    spans = [counted(variant, annotation.spans) for annotation in annotations]
    # Mean and share weigh each output once, however many annotations it has.
    per_unit = [[len(counted(variant, found.spans)) for found in units[unit]] for unit in shared]
    return Side(
        condition=condition,
        mean=float(np.mean([np.mean(counts) for counts in per_unit])) if per_unit else None,
        error_free_share=(
            float(np.mean([counts.count(0) / len(counts) for counts in per_unit])) if per_unit else None
        ),
        boundary=boundary_share(annotations, spans, level=1.0 - alpha),
    )


def _points(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else 100.0 * (first - second)
