"""Correlations of a metric with human scores: of systems, of all segments, per segment and per system."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.ranking.pairwise import settled, signs, system_pairs

_ALL_PAIRS_UP_TO = 64
"""Values in a group up to which Kendall's tau is taken from all pairs of all groups at once."""


@dataclass(frozen=True, slots=True)
class Correlations:
    """Pearson's r, Spearman's rho and Kendall's tau-b; ``None`` where no group has one.

    ``groups`` were averaged. Groups without a correlation are left out, not counted as 0: ``constant`` ones,
    where all scores of one side are the same, and those with fewer than two scores (``too_few``).
    """

    pearson: float | None
    spearman: float | None
    kendall: float | None
    groups: int
    constant: int
    too_few: int


def correlate(gold: NDArray[np.float64], metric: NDArray[np.float64]) -> Correlations:
    """Correlations of all scores as one group, whatever the shape; NaN scores are left out."""
    return mean_correlations(gold.reshape(1, -1), metric.reshape(1, -1))


def mean_correlations(gold: NDArray[np.float64], metric: NDArray[np.float64]) -> Correlations:
    """Correlations within each row, averaged over rows; shape ``(groups, values)``, NaN where missing.

    Grouping by item is this on the transposed arrays of shape ``(systems, segments)``, grouping by system is
    this on them as they are (Freitag et al. 2022, "Results of WMT22 Metrics Shared Task", section 5).
    """
    both = ~(np.isnan(gold) | np.isnan(metric))
    human = settled(np.where(both, gold, np.nan))
    automatic = settled(np.where(both, metric, np.nan))
    enough = both.sum(axis=1) >= 2
    usable = enough & _varies(human) & _varies(automatic)
    rows, too_few = int(usable.sum()), int((~enough).sum())
    constant = usable.size - rows - too_few
    if not rows:
        return Correlations(None, None, None, 0, constant, too_few)
    human, automatic = human[usable], automatic[usable]
    return Correlations(
        pearson=float(pearson_rows(human, automatic).mean()),
        spearman=float(pearson_rows(_ranks(human), _ranks(automatic)).mean()),
        kendall=float(_kendall_rows(human, automatic).mean()),
        groups=rows,
        constant=constant,
        too_few=too_few,
    )


def pearson_rows(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pearson's r of each row, shape ``(rows, values)`` to ``(rows,)``; NaN where both are missing."""
    x = x - np.nanmean(x, axis=1, keepdims=True)
    y = y - np.nanmean(y, axis=1, keepdims=True)
    scale = np.sqrt(np.nansum(x * x, axis=1) * np.nansum(y * y, axis=1))
    result: NDArray[np.float64] = np.clip(np.nansum(x * y, axis=1) / scale, -1.0, 1.0)
    return result


def _varies(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Rows with at least two different values."""
    known = ~np.isnan(values)
    highest = np.where(known, values, -np.inf).max(axis=1, initial=-np.inf)
    lowest = np.where(known, values, np.inf).min(axis=1, initial=np.inf)
    result: NDArray[np.bool_] = highest > lowest
    return result


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.stats import rankdata

    ranks: NDArray[np.float64] = rankdata(values, axis=1, nan_policy="omit")
    return ranks


def _kendall_rows(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Kendall's tau-b of each row; the rows vary and are missing in the same places."""
    if x.shape[1] <= _ALL_PAIRS_UP_TO:
        first, second = system_pairs(x.shape[1])
        sign_x = np.nan_to_num(signs(x[:, first] - x[:, second], 0.0))
        sign_y = np.nan_to_num(signs(y[:, first] - y[:, second], 0.0))
        scale = np.sqrt((sign_x**2).sum(axis=1) * (sign_y**2).sum(axis=1))
        result: NDArray[np.float64] = np.clip((sign_x * sign_y).sum(axis=1) / scale, -1.0, 1.0)
        return result

    from scipy.stats import kendalltau

    known = ~np.isnan(x)
    taus = [kendalltau(a[row], b[row]).statistic for a, b, row in zip(x, y, known, strict=True)]
    return np.array(taus, dtype=np.float64)
