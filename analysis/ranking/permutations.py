"""Is one metric better than another: permutation tests that exchange whole segments or documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from analysis.ranking.benchmark import SystemScores
from analysis.ranking.exchange import Statistic, exchanged_values
from analysis.statistics.estimates import ROUNDING
from analysis.statistics.resampling import permutation_p

FEW_UNITS = 6
"""With fewer units no p-value is below 0.05: of all arrangements, 2 in 2^units are as extreme."""

State = Literal["ok", "undefined", "no common segments"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Difference of a statistic, first minus second metric, with its two-sided p-value.

    ``undefined``: one side has no value, such as the correlation of constant scores. ``segments`` have a
    score of every system by both metrics and lie in so many ``units`` of exchange.
    """

    first: str
    second: str
    difference: float | None
    p: float | None
    segments: int
    units: int
    state: State


@dataclass(frozen=True, slots=True)
class Contest:
    """How metrics are compared: by ``statistic``, exchanging ``units`` as ``flips`` says.

    ``units`` (shape ``(segments,)``) has the number of each segment's unit, ``flips`` (±1, shape
    ``(permutations, units)``) the permutations. ``thresholds`` of ties by metric label, in metric units, stay
    with the scores that they were calibrated on.
    """

    gold: SystemScores
    statistic: Statistic
    units: NDArray[np.intp]
    flips: NDArray[np.int8]
    thresholds: Mapping[str, float]

    def value(self, metric: SystemScores) -> float | None:
        """The statistic of one metric on the segments with a score of every system; ``None`` without value.

        It differs from the printed one where system scores are no means of segments (corpus BLEU and chrF).
        """
        values = self._values(metric, metric, self.flips[:0])
        return None if values is None or np.isnan(values[0][0]) else float(values[0][0])

    def compare(self, first: SystemScores, second: SystemScores) -> Comparison:
        """Test the difference between two metrics by exchanging their scores on whole units.

        Both metrics are standardised over the segments that both scored for every system; then, permutation
        by permutation, they exchange their scores of all systems on about half of the units. Scores of one
        segment depend on each other, and so do pairs of translations of it: exchanging them one by one would
        find differences where there are none. p = (k + 1) / (B + 1), two-sided, since which of the two is
        better is read off the same data.

        Source: Deutsch, Dror and Roth 2021, "A Statistical Analysis of Summarization Evaluation Metrics Using
        Resampling Methods", section 4 (permutation of inputs).
        """
        shared = _scored(first, second)
        count, moved = int(shared.sum()), np.unique(self.units[shared]).size
        names = first.label, second.label
        values = self._values(first, second, self.flips)
        if values is None:
            return Comparison(*names, None, None, count, moved, "no common segments")
        differences = values[0] - values[1]
        observed = float(differences[0])
        if np.isnan(observed):
            return Comparison(*names, None, None, count, moved, "undefined")
        # An arrangement without a value cannot speak for a difference: it counts as extreme.
        extreme = int((~(np.abs(differences[1:]) < abs(observed) - ROUNDING)).sum())
        p = permutation_p(extreme, self.flips.shape[0])
        return Comparison(*names, observed, p, count, moved, "ok")

    def _values(
        self, first: SystemScores, second: SystemScores, flips: NDArray[np.int8]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Both metrics' statistic as observed (row 0) and under each row of ``flips``."""
        shared = _scored(first, second)
        if not shared.any():
            return None
        human = SystemScores(
            self.gold.name, None, self.gold.segments[:, shared], self.gold.system, self.gold.system_from
        )
        # The first row exchanges nothing, so that the observed values come from the same sums as all others.
        rows = np.vstack([np.ones((1, flips.shape[1]), dtype=np.int8), flips])
        return exchanged_values(
            human,
            (first.segments[:, shared], second.segments[:, shared]),
            (self.thresholds.get(first.label, 0.0), self.thresholds.get(second.label, 0.0)),
            self.statistic,
            self.units[shared],
            rows,
            self.flips,
        )


@dataclass(frozen=True, slots=True)
class Clusters:
    """Metrics by significance cluster: ``values`` and ``ranks`` by label, the comparisons they rest on."""

    values: Mapping[str, float | None]
    ranks: Mapping[str, int | None]
    comparisons: tuple[Comparison, ...]


def cluster_metrics(contest: Contest, metrics: tuple[SystemScores, ...], alpha: float) -> Clusters:
    """Group metrics into clusters as WMT prints them; a metric's rank is 1 + the number of clusters above.

    Metrics are taken from the best to the worst, exact ties together; where one is significantly worse
    (p < ``alpha``, unadjusted) than any metric of the current cluster, it opens the next with those that it
    ties with. A metric without a value has no rank. Pairs are
    compared within clusters and across the border to the next only.

    Source: Freitag et al. 2022, "Results of WMT22 Metrics Shared Task", as its tool mt-metrics-eval does it.
    """
    values = {metric.label: contest.value(metric) for metric in metrics}
    ranks: dict[str, int | None] = dict.fromkeys(values)
    comparisons: list[Comparison] = []
    current: list[SystemScores] = []
    rank = 1
    known = [metric for metric in metrics if values[metric.label] is not None]
    ordered = sorted(known, key=lambda each: (-_rounded(values[each.label]), each.label))
    for _, group in groupby(ordered, key=lambda each: _rounded(values[each.label])):
        tied = list(group)
        against = [contest.compare(better, metric) for metric in tied for better in current]
        comparisons += against
        if any(each.p is not None and each.p < alpha for each in against):
            rank, current = rank + 1, []
        comparisons += [contest.compare(*pair) for pair in combinations(tied, 2)]
        current += tied
        ranks |= {metric.label: rank for metric in tied}
    return Clusters(values, ranks, tuple(comparisons))


def _rounded(value: float | None) -> float:
    """A statistic without what rounding makes of equal ones."""
    return round(value or 0.0, 12)


def _scored(first: SystemScores, second: SystemScores) -> NDArray[np.bool_]:
    """Segments with a score of every system by both metrics, shape ``(segments,)``."""
    return np.asarray(~(np.isnan(first.segments) | np.isnan(second.segments)).any(axis=0))
