"""Calibration of what is said of judgements: equivalence, rankings, agreement."""

from __future__ import annotations

import numpy as np
from calibration_core import ALPHA, LEVEL, Codes, Floats, Outcome, Scenario, Test, rejects

from analysis.agreement.alpha import krippendorff_alpha
from analysis.agreement.kappa import kappa_from_labels
from analysis.equivalence.methods import estimate
from analysis.equivalence.options import EquivalenceOptions, Method
from analysis.equivalence.pairs import ScorePairs
from analysis.ranking.benchmark import SystemScores
from analysis.ranking.clusters import ClusterOptions, PairwiseTest, rank_systems
from analysis.ranking.exchange import Statistic
from analysis.ranking.permutations import Contest
from analysis.ranking.soft import draw_flips
from analysis.ranking.units import Block

MARGIN = 3.0
RESIDUAL = 62.0
"""Residual variance of differences of 0-100 judgements, about that of ESA."""


def equivalence(
    documents: int, annotators: int, between: float, *, rows: int = 3070, plain: bool = False
) -> Scenario:
    """A true difference exactly at the margin: every *equivalent* is false.

    ``between`` is the variance of differences between documents, and between annotators.
    """
    options = EquivalenceOptions((MARGIN,), resamples=1000)
    methods = (Method.NAIVE, Method.DOCUMENT, Method.TWO_WAY, Method.BOOTSTRAP)
    few = min(documents, annotators) < 10
    tests = tuple(
        Test(
            f"equivalence, {method}",
            default=method is Method.TWO_WAY,
            warned=few and method is not Method.NAIVE,
            kind="equivalence",
        )
        for method in methods
    )

    def draw(rng: np.random.Generator) -> tuple[Outcome, ...]:
        doc, annotator = rng.integers(0, documents, rows), rng.integers(0, annotators, rows)
        difference = MARGIN + np.sqrt(RESIDUAL) * rng.normal(size=rows)
        difference += np.sqrt(between) * rng.normal(size=documents)[doc]
        difference += np.sqrt(between) * rng.normal(size=annotators)[annotator]
        pairs = ScorePairs(None, np.zeros(rows), difference, doc, annotator, None)
        outcomes = []
        for method in methods:
            found = estimate(pairs, method, options)
            bounds, span = found.one_sided(MARGIN), found.interval(LEVEL)
            covered = None if span is None else float(span[0] <= MARGIN <= span[1])
            outcomes.append(Outcome(rejects(None if bounds is None else max(bounds)), covered))
        return tuple(outcomes)

    name = f"equivalence: {rows:,} pairs, {documents} documents × {annotators} annotators"
    return Scenario(
        name + (f", variance {between:g} between each" if between else ", independent"), plain, tests, draw
    )


def _documents(
    rng: np.random.Generator, documents: int, segments: int, between: float
) -> tuple[Floats, Codes]:
    """Differences with mean 0: a document's share ``between`` of the variance, and noise."""
    doc = np.repeat(np.arange(documents), segments)
    values = np.sqrt(between) * rng.normal(size=documents)[doc]
    return values + np.sqrt(1.0 - between) * rng.normal(size=doc.size), doc


def two_systems(between: float, *, plain: bool = False) -> Scenario:
    """Two systems of equal quality, 25 documents of 8 segments: a significant difference is false."""
    default = ClusterOptions()
    variants = (
        ("permutation of documents", ClusterOptions(test=PairwiseTest.PERMUTATION, permutations=1000)),
        ("Wilcoxon over segments", ClusterOptions(test=PairwiseTest.WILCOXON)),
    )
    tests = tuple(
        Test(f"two systems, {name}", default=options.test is default.test, warned=bool(between))
        if options.test is PairwiseTest.WILCOXON
        else Test(f"two systems, {name}", default=options.test is default.test)
        for name, options in variants
    )

    def draw(rng: np.random.Generator) -> tuple[Outcome, ...]:
        difference, doc = _documents(rng, 25, 8, between)
        base = rng.normal(size=doc.size)
        values = np.stack([base, base + difference])[None]
        block = Block("human", ("DOC",), ("a", "b"), (), 0, np.arange(doc.size), doc, values)
        outcomes = []
        for _, options in variants:
            ranking = rank_systems(block, "DOC", options)
            assert ranking is not None
            outcomes.append(Outcome(rejects(ranking.tests[0].log10_p)))
        return tuple(outcomes)

    return Scenario(
        f"systems: 25 documents × 8 segments, {100 * between:g} % of the variance between documents",
        plain,
        tests,
        draw,
    )


def two_metrics(between: float, *, plain: bool = False) -> Scenario:
    """Two metrics, equally good: 10 systems, 25 documents of 8 segments, errors shared within documents."""
    from analysis.ranking.metrics_table import RankingOptions, Unit

    statistics = (Statistic.ACCURACY, Statistic.SEGMENT, Statistic.SEGMENT_PEARSON)
    units = (Unit.DOCUMENT, Unit.SEGMENT)
    default = RankingOptions().by
    tests = tuple(
        Test(
            f"two metrics, {statistic}, exchange of {unit}s",
            default=unit is default,
            warned=unit is Unit.SEGMENT,
        )
        for statistic in statistics
        for unit in units
    )

    def draw(rng: np.random.Generator) -> tuple[Outcome, ...]:
        doc = np.repeat(np.arange(25), 8)
        quality = np.linspace(-0.3, 0.3, 10)[:, None]
        truth = quality + rng.normal(size=(10, doc.size))

        def scores(name: str, noise: float) -> SystemScores:
            shared = np.sqrt(between) * rng.normal(size=(10, 25))[:, doc]
            values = truth + noise * (shared + np.sqrt(1.0 - between) * rng.normal(size=truth.shape))
            return SystemScores(name, "src", values, values.mean(axis=1), "means of segments")

        gold, first, second = scores("gold", 0.5), scores("first", 1.0), scores("second", 1.0)
        outcomes = []
        for statistic in statistics:
            for unit in units:
                codes = doc if unit is Unit.DOCUMENT else np.arange(doc.size)
                flips = draw_flips(int(codes.max()) + 1, 500, int(rng.integers(1 << 30)))
                thresholds = {"first-src": 0.0, "second-src": 0.0}
                contest = Contest(gold, statistic, codes, flips, thresholds)
                p = contest.compare(first, second).p
                outcomes.append(Outcome(None if p is None else float(p < ALPHA)))
        return tuple(outcomes)

    return Scenario(
        f"metrics: 10 systems, 25 documents × 8 segments, {100 * between:g} % of the error by document",
        plain,
        tests,
        draw,
    )


def kappa(items: int) -> Scenario:
    """Two annotators, 80 % valid, kappa 0.5."""
    tests = (
        Test("kappa, large-sample interval", default=True, kind="interval"),
        Test("kappa, bootstrap interval", kind="interval"),
    )

    def draw(rng: np.random.Generator) -> tuple[Outcome, ...]:
        first = rng.random(items) < 0.8
        # With probability 1/2 the second annotator copies, else answers by chance: kappa is 1/2.
        second = np.where(rng.random(items) < 0.5, first, rng.random(items) < 0.8)
        found = kappa_from_labels(
            ["yes" if label else "no" for label in first],
            ["yes" if label else "no" for label in second],
            resamples=1000,
            seed=int(rng.integers(1 << 30)),
        )
        spans = (found.interval, found.bootstrap_interval)
        return tuple(
            Outcome(None, None if span is None else float(span[0] <= 0.5 <= span[1])) for span in spans
        )

    return Scenario(f"kappa 0.5: {items} items", False, tests, draw)


def alpha(documents: int) -> Scenario:
    """Two annotators of 6 segments a document; half of the variance is the segment's, so alpha is 0.5."""
    tests = (Test("alpha, bootstrap of documents", default=True, kind="interval"),)

    def draw(rng: np.random.Generator) -> tuple[Outcome, ...]:
        units = np.arange(documents * 6)
        # Of the segment's half, half is the document's.
        signal = np.sqrt(0.25) * (rng.normal(size=documents)[units // 6] + rng.normal(size=units.size))
        values = signal[:, None] + np.sqrt(0.5) * rng.normal(size=(units.size, 2))
        found = krippendorff_alpha(
            values.reshape(-1),
            np.repeat(units, 2),
            clusters=np.repeat(units // 6, 2),
            resamples=500,
            seed=int(rng.integers(1 << 30)),
        )
        span = found.interval
        return (Outcome(None, None if span is None else float(span[0] <= 0.5 <= span[1])),)

    return Scenario(f"alpha 0.5: {documents} documents × 6 segments, two annotators", False, tests, draw)


JUDGEMENTS: tuple[Scenario, ...] = (
    equivalence(23, 10, 0.0, plain=True),
    *(equivalence(23, annotators, 0.9) for annotators in (10, 3, 2)),
    equivalence(23, 10, 4.0),
    two_systems(0.0, plain=True),
    two_systems(0.5),
    two_metrics(0.0, plain=True),
    two_metrics(0.8),
    kappa(150),
    alpha(40),
)
