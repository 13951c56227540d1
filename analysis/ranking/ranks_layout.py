"""How systems, their ranks and their clusters are printed, conditions side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence

from analysis.printing.render import Column, Entry, Sheet, number
from analysis.ranking.clusters import PairwiseTest, RankedSystem
from analysis.ranking.condition_table import ConditionRanking, RankedMetric
from analysis.ranking.conditions import MEANINGS
from analysis.ranking.metrics_table import Unit
from analysis.ranking.permutations import FEW_UNITS


def rank_sheet(ranking: ConditionRanking, metric: RankedMetric, *, long: bool = False) -> Sheet:
    """One metric's ranks and clusters, conditions side by side, in the order of the first condition."""
    columns = [Column("system", "left")]
    for condition in metric.conditions:
        columns += map(Column, (f"{condition} mean", f"{condition} rank", f"{condition} cluster"))
    places: dict[str, list[RankedSystem]] = {}
    for ranked in metric.rankings:
        for system in ranked.systems:
            places.setdefault(system.system, []).append(system)
    decimals = _decimals([system.mean for row in places.values() for system in row])
    body = []
    for name, row in places.items():
        entries = [Entry(name)]
        for system in row:
            entries.append(Entry(number(system.mean, decimals)))
            entries.append(Entry(f"{system.rank:g} ({_ranks(system)})"))
            entries.append(Entry(str(system.cluster)))
        body.append(tuple(entries))
    caption = [_test_sentence(ranking)]
    if not metric.rankings:
        caption = [f"Nothing to rank: {MEANINGS['no common units' if metric.systems else 'one system']}."]
    elif any(ranked.few_units for ranked in metric.rankings):
        units = metric.rankings[0].units
        caption.append(f"With {units} units, fewer than {FEW_UNITS}, no permutation test can find p < 0.05.")
    label = f"ranks-{ranking.metrics.index(metric) + 1}"
    title = f"Ranks by {metric.metric}"
    return Sheet(label, title, tuple(caption), tuple(columns), tuple(body), long=long)


def _ranks(system: RankedSystem) -> str:
    return str(system.best) if system.best == system.worst else f"{system.best}–{system.worst}"


def _test_sentence(ranking: ConditionRanking) -> str:
    options = ranking.options.clusters
    if options.test is PairwiseTest.WILCOXON:
        test = (
            f"Wilcoxon's signed-rank test on segments (zeros: {options.zero_method}), which takes them to be "
            "independent and is too eager where those of a document go together"
        )
    else:
        unit = "documents" if options.by is Unit.DOCUMENT else "segments"
        test = f"{options.permutations} sign flips of whole {unit} (seed {options.seed})"
    return (
        "Rank by the mean; in brackets from 1 + the systems significantly better to the number of systems "
        "less those significantly worse. A new cluster begins where all systems above are significantly "
        f"better than all from there on. Pairs of systems: {test}, two-sided p < {options.alpha:g}, "
        "unadjusted."
    )


def _decimals(means: Sequence[float]) -> int:
    """Two decimals, more where the means lie closer together than a unit."""
    spread = max(means) - min(means) if means else 0.0
    return 2 if spread <= 0 else min(8, max(2, 2 - math.floor(math.log10(spread))))
