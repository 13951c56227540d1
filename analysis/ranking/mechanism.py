"""What a condition's scores consist of: what the segments alone explain, and agreement with people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from analysis.ranking.conditions import ResampledTaus, describe_taus
from analysis.ranking.documents import document_sums, resampled_means, resampled_weights
from analysis.ranking.units import Block, UnitTable
from analysis.statistics.estimates import ROUNDING
from analysis.statistics.rank import KendallTau, TauThreshold, kendall_tau, tau_b_rows
from analysis.statistics.resampling import percentile_interval

ALONE = "SEG"
"""The condition in which a segment is judged alone."""

Level = Literal["segment", "document", "system"]
LEVELS: tuple[Level, ...] = ("segment", "document", "system")

State = Literal["ok", "one document", "constant", "too few"]
MEANINGS: dict[str, str] = {
    "one document": "nothing to resample: no interval",
    "constant": "the scores of one side are all the same",
    "too few": "fewer than three points for R², or two systems for tau",
}


@dataclass(frozen=True, slots=True)
class Explained:
    """R² of a condition's scores on those of the same translations judged alone.

    ``level``: each point is a segment of a system, or a system's mean over a document, or over everything.
    ``slope`` is in points of the condition per point alone. The interval describes resampled documents;
    ``undefined`` resamples have no R².
    """

    metric: str
    condition: str
    level: Level
    points: int
    documents: int
    r2: float | None
    slope: float | None
    interval: tuple[float, float] | None
    undefined: int
    resamples: int
    state: State


@dataclass(frozen=True, slots=True)
class HumanAgreement:
    """Kendall's tau-b between the system means of a metric and of people in one condition."""

    metric: str
    gold: str
    condition: str
    systems: int
    documents: int
    units: int
    gold_units: int
    tau: KendallTau | None
    resampled: ResampledTaus | None
    state: State


def explained_by_segments(
    table: UnitTable, metric: str, *, resamples: int = 10_000, seed: int = 0, confidence: float = 0.95
) -> list[Explained]:
    """Least squares of each condition's scores on the scores in ``ALONE``, at three levels.

    All translations scored in both conditions are used, means over annotators, with one line for all of
    them: R² is their squared correlation. Document and system points are means over these translations and
    count once each, whatever their length. Empty where the metric has no scores in ``ALONE``.
    Kim et al. 2026, section on the mechanism, which does not say at which level its figures are.
    """
    if ALONE not in table.conditions:
        return []
    scores = table.scores(metric)
    alone = scores[table.conditions.index(ALONE)]
    results = []
    for place, condition in enumerate(table.conditions):
        both = ~(np.isnan(alone) | np.isnan(scores[place]))
        if condition == ALONE or not both.any():
            continue
        sums = _sums_of_pairs(alone, scores[place], both, table.document)
        for level in LEVELS:
            results.append(_explained(sums, metric, condition, level, resamples, seed, confidence))
    return results


def human_agreement(
    gold: Block,
    metric: Block,
    threshold: TauThreshold,
    *,
    resamples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> list[HumanAgreement]:
    """Tau-b of system means between people and a metric in every condition that both have.

    Over the systems and documents that both have; within a document over the segments that both have, or,
    where they share none (a metric that scores whole documents), over each side's own. The same documents
    are drawn for both. Kim et al. 2026, table of human-metric agreement.
    """
    shared = [name for name in gold.systems if name in metric.systems]
    people, machine = _same_units(_only(gold, shared), _only(metric, shared))
    results = []
    for condition in (name for name in gold.conditions if name in metric.conditions):
        a, b = gold.conditions.index(condition), metric.conditions.index(condition)
        state: State = "too few"
        tau, resampled = None, None
        if len(shared) > 1 and people.units:
            tolerance = people.tolerance, machine.tolerance
            tau = kendall_tau(people.means()[a], machine.means()[b], tolerance=tolerance)
            state = "constant" if tau.tau is None else "one document"
            if tau.tau is not None and people.documents > 1:
                state = "ok"
                human = resampled_means(document_sums(people), resamples, seed)[:, a]
                other = resampled_means(document_sums(machine), resamples, seed)[:, b]
                rows = tau_b_rows(human, other, tolerance=tolerance)
                resampled = describe_taus(rows, threshold, confidence)
        results.append(
            HumanAgreement(
                metric=metric.metric,
                gold=gold.metric,
                condition=condition,
                systems=len(shared),
                documents=people.documents,
                units=machine.units,
                gold_units=people.units,
                tau=tau,
                resampled=resampled,
                state=state,
            )
        )
    return results


def _only(block: Block, systems: list[str]) -> Block:
    return replace(
        block,
        systems=tuple(systems),
        values=block.values[:, [block.systems.index(name) for name in systems]],
    )


def _same_units(first: Block, second: Block) -> tuple[Block, Block]:
    """Both blocks on the same documents, and in each on the same units where they share any."""
    shared = np.intersect1d(first.unit, second.unit)
    # Documents in which a unit is shared.
    joint = np.unique(first.document[np.isin(first.unit, shared)])
    sides = []
    for side, other in ((first, second), (second, first)):
        own = np.isin(side.document, np.setdiff1d(other.document, joint))
        sides.append(side.where(np.isin(side.unit, shared) | own))
    return sides[0], sides[1]


@dataclass(frozen=True, slots=True)
class _PairSums:
    """n, Σx, Σy, Σx², Σy², Σxy of centred scores by document and system: ``(6, documents, systems)``."""

    sums: NDArray[np.float64]
    constant: bool


def _sums_of_pairs(
    x: NDArray[np.float64], y: NDArray[np.float64], both: NDArray[np.bool_], document: NDArray[np.intp]
) -> _PairSums:
    system, unit = np.nonzero(both)
    documents, codes = np.unique(document[unit], return_inverse=True)
    shape = (documents.size, both.shape[0])
    cell = codes.reshape(-1) * shape[1] + system
    constant = any(np.ptp(side[both]) <= ROUNDING * np.abs(side[both]).max() for side in (x, y))
    a, b = x[both] - x[both].mean(), y[both] - y[both].mean()
    columns = (np.ones(a.size), a, b, a * a, b * b, a * b)
    sums = np.zeros((6, shape[0] * shape[1]))
    for place, column in enumerate(columns):
        sums[place] = np.bincount(cell, weights=column, minlength=sums.shape[1])
    return _PairSums(sums.reshape(6, *shape), constant)


def _explained(
    pairs: _PairSums,
    metric: str,
    condition: str,
    level: Level,
    resamples: int,
    seed: int,
    confidence: float,
) -> Explained:
    documents = pairs.sums.shape[1]
    points, moments = _points(pairs.sums, level)
    state: State = "too few" if points < 3 else "constant" if pairs.constant else "ok"
    r2, slope, interval, undefined, drawn = None, None, None, 0, 0
    if state == "ok":
        total = moments(np.ones((1, documents)))
        # A spread that is rounding beside that of all points is none.
        floor = 1e-12 * (total[3:5, 0] / total[0, 0])
        fit = _least_squares(total, floor)
        if np.isnan(fit[0][0]):
            state = "constant"
        else:
            r2, slope = float(fit[0][0]), float(fit[1][0])
            state = "one document" if documents < 2 else "ok"
    if state == "ok":
        parts = resampled_weights(documents, resamples, seed)
        found = np.concatenate([_least_squares(moments(weights), floor)[0] for weights in parts])
        interval, drawn = percentile_interval(found, confidence), resamples
        undefined = int(np.isnan(found).sum())
    return Explained(
        metric=metric,
        condition=condition,
        level=level,
        points=points,
        documents=documents,
        r2=r2,
        slope=slope,
        interval=interval,
        undefined=undefined,
        resamples=drawn,
        state=state,
    )


Moments = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def _points(sums: NDArray[np.float64], level: Level) -> tuple[int, Moments]:
    """How many points there are, and their moments (shape ``(6, n)``) under weights of documents."""
    n = sums[0]
    if level == "system":

        def of_systems(weights: NDArray[np.float64]) -> NDArray[np.float64]:
            count = weights @ n
            there = count > 0
            x, y = (np.where(there, weights @ side / np.maximum(count, 1.0), 0.0) for side in sums[1:3])
            columns = (there.astype(np.float64), x, y, x * x, y * y, x * y)
            return np.stack([column.sum(axis=1) for column in columns])

        return int((n.sum(axis=0) > 0).sum()), of_systems
    if level == "document":
        there = n > 0
        x, y = (np.where(there, side / np.maximum(n, 1.0), 0.0) for side in sums[1:3])
        sums = np.stack([there.astype(np.float64), x, y, x * x, y * y, x * y])
    by_document = sums.sum(axis=2)
    return int(sums[0].sum()), lambda weights: by_document @ weights.T


def _least_squares(
    moments: NDArray[np.float64], floor: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """R² and slope from moments of shape ``(6, n)``; NaN where a side varies by no more than ``floor``."""
    n, x, y, xx, yy, xy = moments
    vx, vy = xx / n - (x / n) ** 2, yy / n - (y / n) ** 2
    covariance = xy / n - (x / n) * (y / n)
    varies = (vx > floor[0]) & (vy > floor[1])
    r2, slope = np.full(n.size, np.nan), np.full(n.size, np.nan)
    np.divide(covariance**2, vx * vy, out=r2, where=varies)
    np.divide(covariance, vx, out=slope, where=varies)
    # Rounding may carry a perfect fit past 1.
    return np.minimum(r2, 1.0), slope
