"""Which systems differ: pairwise tests on the same units, clusters and rank ranges as WMT prints them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from analysis.ranking.metrics_table import Unit
from analysis.ranking.pairwise import pair_differences, settled, system_pairs
from analysis.ranking.permutations import FEW_UNITS
from analysis.ranking.units import Block
from analysis.statistics.estimates import ROUNDING
from analysis.statistics.rank import average_ranks
from analysis.statistics.resampling import permutation_p

_EXACT_UP_TO = 50
"""Units up to which the distribution of Wilcoxon's statistic is taken exactly."""
_CELLS_AT_ONCE = 4_000_000


class PairwiseTest(StrEnum):
    """How two systems are compared."""

    WILCOXON = "wilcoxon"
    PERMUTATION = "permutation"


class ZeroMethod(StrEnum):
    """What Wilcoxon's test does with units on which two systems score the same."""

    WILCOX = "wilcox"
    PRATT = "pratt"
    ZSPLIT = "zsplit"


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """Test of two systems at level ``alpha``, two-sided, not corrected for the number of pairs.

    The default flips whole documents: segments of a document go together, and Wilcoxon's test, which WMT
    prints, takes them to be independent and then finds differences where there are none.

    ``zero_method`` is for Wilcoxon's test alone; ``by`` (what flips its sign as a whole), ``permutations``
    and ``seed`` are for the permutation test alone.
    """

    test: PairwiseTest = PairwiseTest.PERMUTATION
    zero_method: ZeroMethod = ZeroMethod.WILCOX
    by: Unit = Unit.DOCUMENT
    alpha: float = 0.05
    permutations: int = 10_000
    seed: int = 0


@dataclass(frozen=True, slots=True)
class PairTest:
    """Test of two systems: ``difference`` is mean(first) - mean(second), ``better`` a significant winner.

    ``log10_p`` is ``None`` where the two score the same on every unit.
    """

    first: str
    second: str
    difference: float
    log10_p: float | None
    better: str | None


@dataclass(frozen=True, slots=True)
class RankedSystem:
    """One system's place: rank by mean (1 is the best, ties share it), cluster, range of ranks.

    ``best`` is 1 + the systems significantly better than it, ``worst`` the number of systems less those
    significantly worse.
    """

    system: str
    mean: float
    rank: float
    cluster: int
    best: int
    worst: int


@dataclass(frozen=True, slots=True)
class SystemRanking:
    """The ranking in one condition, best system first; ``tests`` has every pair of systems.

    ``units`` is the number of things that the test takes to be independent: segments, or documents where
    these are flipped.
    """

    metric: str
    condition: str
    systems: tuple[RankedSystem, ...]
    tests: tuple[PairTest, ...]
    units: int
    options: ClusterOptions

    @property
    def few_units(self) -> bool:
        """Whether a permutation test cannot find anything because there is too little to flip."""
        return self.options.test is PairwiseTest.PERMUTATION and self.units < FEW_UNITS


def rank_systems(block: Block, condition: str, options: ClusterOptions) -> SystemRanking | None:
    """Rank the systems of a condition by their mean and test every pair on the same units.

    A line between clusters is drawn where every system above is significantly better than every system below;
    a system's rank range runs from 1 + the systems that beat it to the number of systems less those that it
    beats (Kocmi et al. 2024, "Findings of the WMT24 General Machine Translation Shared Task", section on
    human ranking). Two-sided, since which of two systems is better is read off the same data. Wilcoxon's
    test takes segments to be independent, the permutation test whole documents (or segments, as
    ``options.by`` says).
    ``None`` where the block has no unit or no system.
    """
    if not block.units or not block.systems:
        return None
    values = block.values[block.conditions.index(condition)]
    means = values.mean(axis=1)
    order = np.lexsort((np.arange(means.size), -settled(means)))
    values, means = values[order], means[order]
    names = [block.systems[place] for place in order]
    differences = pair_differences(values)
    differences[np.abs(differences) <= block.tolerance] = 0.0
    if options.test is PairwiseTest.WILCOXON:
        log10_p, direction = wilcoxon_log10_p(differences, options.zero_method)
        units = block.units
    else:
        documents = np.unique(block.document, return_inverse=True)[1].reshape(-1)
        groups = documents if options.by is Unit.DOCUMENT else np.arange(block.units)
        log10_p, direction = _permutation(differences, groups, options)
        units = int(groups.max()) + 1
    wins = np.zeros((len(names), len(names)), dtype=bool)
    tests = []
    for place, (i, j) in enumerate(zip(*system_pairs(len(names)), strict=True)):
        p = float(log10_p[place])
        better = None
        if p < math.log10(options.alpha) and direction[place]:
            winner, loser = (i, j) if direction[place] > 0 else (j, i)
            wins[winner, loser] = True
            better = names[winner]
        known = None if math.isnan(p) else p
        tests.append(PairTest(names[i], names[j], float(means[i] - means[j]), known, better))
    ranks = average_ranks(means, tolerance=block.tolerance)
    clusters = cluster_numbers(wins)
    systems = tuple(
        RankedSystem(
            system=name,
            mean=float(means[place]),
            rank=float(ranks[place]),
            cluster=clusters[place],
            best=1 + int(wins[:, place].sum()),
            worst=len(names) - int(wins[place].sum()),
        )
        for place, name in enumerate(names)
    )
    return SystemRanking(block.metric, condition, systems, tuple(tests), units, options)


def cluster_numbers(wins: NDArray[np.bool_]) -> list[int]:
    """Clusters (from 1) of systems in order of their score; ``wins[i, j]``: i is significantly better than j.

    A new cluster begins where every system before is better than every system from there on.
    """
    clusters = [1] * min(len(wins), 1)
    for place in range(1, len(wins)):
        clusters.append(clusters[-1] + bool(wins[:place, place:].all()))
    return clusters


def wilcoxon_log10_p(
    differences: NDArray[np.float64], zero_method: ZeroMethod
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two-sided log10 p of Wilcoxon's signed-rank test for each row, and the sign of its statistic.

    ``differences`` has shape ``(pairs, units)``, both results ``(pairs,)``; p is NaN where all differences
    are 0. Zeros are dropped (``wilcox``), ranked and then dropped (``pratt``), or ranked and split between
    both signs (``zsplit``). Up to 50 units p is exact given ties and zeros, beyond it normal as in scipy.
    Exactly, ``zsplit`` is ``pratt``: a zero has no sign to flip. Wilcoxon 1945, Biometrics Bulletin 1(6);
    Pratt 1959, Journal of the American Statistical Association 54(287).
    """
    from scipy.special import log_ndtr
    from scipy.stats import rankdata, wilcoxon

    log10_p = np.full(len(differences), np.nan)
    some = (differences != 0).any(axis=1)
    if not some.any():
        return log10_p, np.zeros(len(differences))
    # Differences of the same size must share a rank, though rounding tells them apart.
    sizes = settled(np.abs(differences))
    differences = np.sign(differences) * sizes
    ranks = rankdata(sizes, axis=1)
    if zero_method is ZeroMethod.WILCOX:
        ranks = ranks - (sizes == 0).sum(axis=1, keepdims=True)
    direction = np.sign((np.sign(differences) * ranks).sum(axis=1))
    if differences.shape[1] <= _EXACT_UP_TO:
        exact = [
            _exact_p(row[size > 0], sign[size > 0])
            for row, size, sign in zip(ranks[some], sizes[some], np.sign(differences[some]), strict=True)
        ]
        log10_p[some] = np.log10(exact)
    else:
        z = wilcoxon(differences[some], axis=1, zero_method=str(zero_method), method="approx").zstatistic
        log10_p[some] = np.minimum(0.0, (math.log(2.0) + log_ndtr(-np.abs(z))) / math.log(10.0))
    return log10_p, direction


def _exact_p(ranks: NDArray[np.float64], signs: NDArray[np.float64]) -> float:
    """Two-sided p of the sum of positive ranks, over all signs of these ranks (halves where units tie)."""
    doubled = np.rint(2.0 * ranks).astype(np.int64)
    # How many of the 2^n choices of positive signs give each sum: whole numbers, exact in float64.
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1.0
    for rank in doubled:
        ways[rank:] += ways[: ways.size - rank].copy()
    reached = int(doubled[signs > 0].sum())
    tail = min(ways[: reached + 1].sum(), ways[reached:].sum())
    return float(min(1.0, 2.0 * tail / 2.0**doubled.size))


def _permutation(
    differences: NDArray[np.float64], groups: NDArray[np.intp], options: ClusterOptions
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Log10 p = (k + 1) / (B + 1) of the mean difference when whole groups of units flip their sign."""
    count = int(groups.max()) + 1
    sums = np.zeros((count, len(differences)))
    np.add.at(sums, groups, differences.T)
    observed = sums.sum(axis=0)
    # Sums in another order are the same sums: differences of this size are rounding.
    noise = ROUNDING * np.abs(sums).sum(axis=0)
    extreme = np.zeros(len(differences), dtype=np.int64)
    rng = np.random.default_rng(options.seed)
    step = max(1, _CELLS_AT_ONCE // count)
    for start in range(0, options.permutations, step):
        size = min(step, options.permutations - start)
        flips = 2.0 * rng.integers(0, 2, size=(size, count)) - 1.0
        extreme += (np.abs(flips @ sums) >= np.abs(observed) - noise).sum(axis=0)
    log10_p = np.log10([permutation_p(int(k), options.permutations) for k in extreme])
    log10_p[(differences == 0).all(axis=1)] = np.nan
    return log10_p, np.where(np.abs(observed) <= noise, 0.0, np.sign(observed))
