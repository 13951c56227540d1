"""Every metric of a benchmark against its human scores, in one table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from analysis.ranking.benchmark import FROM_FILE, Benchmark, SystemScores
from analysis.ranking.correlations import Correlations, correlate, mean_correlations
from analysis.ranking.exchange import Statistic
from analysis.ranking.pairwise import PairwiseAccuracy, pairwise_accuracy, rounding
from analysis.ranking.permutations import Comparison, Contest, cluster_metrics
from analysis.ranking.soft import SoftAccuracy, draw_flips, soft_accuracy
from analysis.ranking.ties import TieCalibration, TieCount, calibrate_ties, count_ties
from challenge_sets import InputError


class Unit(StrEnum):
    """What permutations exchange as a whole."""

    SEGMENT = "segment"
    DOCUMENT = "document"


class State(StrEnum):
    """What a metric's values are worth."""

    OK = "ok"
    ONE_SYSTEM = "one system"
    """Nothing at system level, and no pair of translations."""
    NO_SEGMENTS = "no segment scores"
    """System scores alone were published."""
    NOT_SHARED = "no segment in common"
    """No score of the metric has a human score beside it."""
    CONSTANT = "constant scores"
    """The metric gives every translation the same score."""


@dataclass(frozen=True, slots=True)
class RankingOptions:
    """``permutations`` of ``by`` units with ``seed``; clusters by ``statistic`` at the level ``alpha``."""

    permutations: int = 1000
    seed: int = 0
    by: Unit = Unit.DOCUMENT
    statistic: Statistic = Statistic.ACCURACY
    alpha: float = 0.05


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric. ``segments_shared`` have a human score beside the metric's for at least one system.

    ``item`` correlations are means over segments, ``per_system`` ones over systems. ``all_ties`` counts pairs
    of translations whether rated by humans or not; ``tested`` is the value that ``cluster`` goes by.
    """

    scores: SystemScores
    state: State
    segments_shared: int
    accuracy: PairwiseAccuracy
    soft: SoftAccuracy
    ties: TieCalibration
    all_ties: TieCount
    system: Correlations
    segment: Correlations
    item: Correlations
    per_system: Correlations
    tested: float | None
    cluster: int | None

    @property
    def tested_on_means(self) -> bool:
        """Whether the metric has system scores that are no means of segments, so that tests see others."""
        if self.scores.system_from != FROM_FILE or self.state is State.NO_SEGMENTS:
            return False
        known = ~np.isnan(self.scores.segments)
        counts = np.maximum(known.sum(axis=1), 1)
        means = np.where(known, self.scores.segments, 0.0).sum(axis=1) / counts
        # Files may hold few digits: a rounded mean is still a mean.
        return bool(np.nanmax(np.abs(means - self.scores.system), initial=0.0) > 1e-3 * np.abs(means).max())


@dataclass(frozen=True, slots=True)
class MetricRanking:
    """Metrics, best first: by system pairwise accuracy, then soft pairwise accuracy, then name.

    ``units`` were exchanged in permutations.
    """

    source: str
    benchmark: Benchmark
    options: RankingOptions
    units: int
    gold_ties: TieCount
    rows: tuple[MetricRow, ...]
    comparisons: tuple[Comparison, ...]


def rank_metrics(benchmark: Benchmark, options: RankingOptions, source: str = "") -> MetricRanking:
    """Hold every metric against the human scores; ``source`` says where the benchmark was read.

    Raises ``InputError`` where documents are to be exchanged and not known, and where the human scores do
    not vary.
    """
    _refuse_constant(benchmark)
    by_document = options.by is Unit.DOCUMENT
    units = benchmark.document_units() if by_document else benchmark.segment_units()
    flips = draw_flips(int(units.max()) + 1, options.permutations, options.seed)
    gold = benchmark.gold
    ties = {metric.label: calibrate_ties(gold.segments, metric.segments) for metric in benchmark.metrics}
    thresholds = {label: found.threshold for label, found in ties.items() if found.threshold is not None}
    contest = Contest(gold, options.statistic, units, flips, thresholds)
    clusters = cluster_metrics(contest, benchmark.metrics, options.alpha)
    rows = []
    for metric in benchmark.metrics:
        shared = ~(np.isnan(gold.segments) | np.isnan(metric.segments))
        rows.append(
            MetricRow(
                scores=metric,
                state=_state(benchmark, metric),
                segments_shared=int(shared.any(axis=0).sum()),
                accuracy=pairwise_accuracy(gold.system, metric.system),
                soft=soft_accuracy(gold.segments, metric.segments, units, flips),
                ties=ties[metric.label],
                all_ties=count_ties(metric.segments),
                system=correlate(gold.system, metric.system),
                segment=correlate(gold.segments, metric.segments),
                item=mean_correlations(gold.segments.T, metric.segments.T),
                per_system=mean_correlations(gold.segments, metric.segments),
                tested=clusters.values[metric.label],
                cluster=clusters.ranks[metric.label],
            )
        )
    return MetricRanking(
        source=source,
        benchmark=benchmark,
        options=options,
        units=flips.shape[1],
        gold_ties=count_ties(gold.segments),
        rows=tuple(sorted(rows, key=_order)),
        comparisons=clusters.comparisons,
    )


def _refuse_constant(benchmark: Benchmark) -> None:
    gold = benchmark.gold
    known = gold.segments[~np.isnan(gold.segments)]
    if known.size and np.ptp(known) == 0.0:
        raise InputError(
            f"every human score of {gold.name} is {known[0]:g}: there is nothing to hold metrics against",
        )


def _order(row: MetricRow) -> tuple[float, float, str]:
    return (-_known(row.accuracy.accuracy), -_known(row.soft.accuracy), row.scores.label)


def _known(value: float | None) -> float:
    return -1.0 if value is None else value


def _state(benchmark: Benchmark, metric: SystemScores) -> State:
    known = ~np.isnan(metric.segments)
    if len(benchmark.systems) < 2:
        return State.ONE_SYSTEM
    if not known.any():
        return State.NO_SEGMENTS
    if not (known & ~np.isnan(benchmark.gold.segments)).any():
        return State.NOT_SHARED
    values = metric.segments[known]
    return State.CONSTANT if np.ptp(values) <= rounding(values) else State.OK
