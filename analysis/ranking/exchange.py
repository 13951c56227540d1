"""How well two metrics agree with humans once they have exchanged their scores on some segments."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.ranking.benchmark import SystemScores
from analysis.ranking.correlations import pearson_rows
from analysis.ranking.pairwise import pair_differences, rounding, settled, signs, system_pairs
from analysis.ranking.soft import flip_chunks, pair_p_values, unit_sums
from analysis.ranking.ties import item_accuracy
from analysis.statistics.estimates import ROUNDING
from challenge_sets.console import progress

Values = tuple[NDArray[np.float64], NDArray[np.float64]]
"""A statistic of the first and of the second metric, each of shape ``(rows,)``, NaN where it has no value."""

_Statistic = Callable[[NDArray[np.float64]], NDArray[np.float64]]


class Statistic(StrEnum):
    """What two metrics are compared by."""

    ACCURACY = "system-accuracy"
    """System pairwise accuracy, of means over segments."""
    SOFT = "soft-accuracy"
    """Soft pairwise accuracy."""
    SEGMENT = "segment-accuracy"
    """Tie-calibrated segment accuracy, each score at the threshold of the metric that it comes from."""
    SYSTEM_PEARSON = "system-pearson"
    """Pearson's r of system scores, of means over segments."""
    SEGMENT_PEARSON = "segment-pearson"
    """Pearson's r of all segment scores."""


def exchanged_values(
    gold: SystemScores,
    metrics: tuple[NDArray[np.float64], NDArray[np.float64]],
    thresholds: tuple[float, float],
    statistic: Statistic,
    units: NDArray[np.intp],
    rows: NDArray[np.int8],
    inner: NDArray[np.int8],
) -> Values:
    """The statistic of both metrics under every exchange in ``rows``.

    ``gold.segments`` and both ``metrics`` have shape ``(systems, segments)``, the metrics without missing
    scores; ``units`` has the number of each segment's unit. ``rows`` and ``inner`` are ±1 of shape
    ``(…, units)``: where a row says -1 the metrics exchange their scores of all systems on that unit, each
    standardised over all its scores (segment accuracy instead exchanges a segment's accuracy).
    ``inner`` are the permutations that soft accuracy tests pairs of systems with.
    """
    if statistic is Statistic.SEGMENT:
        return _segment_accuracy(gold.segments, metrics, thresholds, units, rows)
    standard = _standardised(metrics[0]), _standardised(metrics[1])
    if statistic is Statistic.SOFT:
        return _soft(gold.segments, standard, units, rows, inner)
    if statistic is Statistic.SEGMENT_PEARSON:
        moments = [_moments(gold.segments, scores, units, rows.shape[1]) for scores in standard]
        return _linear(moments, rows, _segment_pearson(gold.segments))
    ranked = ~np.isnan(gold.system)
    sums = [unit_sums(scores[ranked], units, rows.shape[1]) for scores in standard]
    tolerance = ROUNDING * float((np.abs(standard[0]) + np.abs(standard[1])).sum(axis=1).max())
    value = _system_pearson if statistic is Statistic.SYSTEM_PEARSON else _system_accuracy
    return _linear(sums, rows, value(gold.system[ranked], tolerance))


def _standardised(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean 0 and standard deviation 1 over all scores; constant scores become 0."""
    centred = scores - scores.mean()
    spread = float(centred.std())
    result: NDArray[np.float64] = centred / spread if spread > rounding(scores) else np.zeros_like(scores)
    return result


def _linear(parts: list[NDArray[np.float64]], rows: NDArray[np.int8], value: _Statistic) -> Values:
    """A statistic of sums over units, each of shape ``(units, columns)``.

    An exchanged unit's sums go to the other metric, so the metrics' sums are (total ± rows @ difference) / 2.
    """
    total, difference = (parts[0] + parts[1]).sum(axis=0), parts[0] - parts[1]
    first, second = np.empty(rows.shape[0]), np.empty(rows.shape[0])
    for part, chunk in flip_chunks(rows, difference.shape[1] ** 2):
        moved = chunk @ difference
        first[part], second[part] = value((total + moved) / 2), value((total - moved) / 2)
    return first, second


def _no_value(sums: NDArray[Any]) -> NDArray[np.float64]:
    return np.full(sums.shape[0], np.nan)


def _system_accuracy(gold: NDArray[np.float64], tolerance: float) -> _Statistic:
    """Pairwise accuracy of system sums of shape ``(rows, systems)``."""
    if gold.size < 2:
        return _no_value
    human = signs(pair_differences(gold), rounding(gold))
    first, second = system_pairs(gold.size)

    def accuracy(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        agree = signs(sums[:, first] - sums[:, second], tolerance) == human
        return np.asarray(agree.mean(axis=1))

    return accuracy


def _system_pearson(gold: NDArray[np.float64], tolerance: float) -> _Statistic:
    """Pearson's r of system sums of shape ``(rows, systems)``; NaN where either side is constant."""
    if gold.size < 2 or np.ptp(settled(gold)) == 0:
        return _no_value

    def pearson(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        varies = np.ptp(sums, axis=1) > tolerance
        result = _no_value(sums)
        result[varies] = pearson_rows(sums[varies], np.broadcast_to(gold, (int(varies.sum()), gold.size)))
        return result

    return pearson


def _moments(
    human: NDArray[np.float64], scores: NDArray[np.float64], units: NDArray[np.intp], count: int
) -> NDArray[np.float64]:
    """Per unit the sums of x, x² and x·human over scores that have a human one, shape ``(count, 3)``."""
    known = ~np.isnan(human)
    x, y = scores * known, np.where(known, human, 0.0)
    return unit_sums(np.stack([x.sum(axis=0), (x * x).sum(axis=0), (x * y).sum(axis=0)]), units, count)


def _segment_pearson(human: NDArray[np.float64]) -> _Statistic:
    """Pearson's r from sums of ``_moments``; NaN where either side is constant."""
    known = human[~np.isnan(human)]
    if known.size < 2 or np.ptp(settled(known)) == 0:
        return _no_value
    spread = float(np.sqrt(((known - known.mean()) ** 2).sum()))

    def pearson(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        own = sums[:, 1] - sums[:, 0] ** 2 / known.size
        varies = own > ROUNDING * known.size
        result = _no_value(sums)
        result[varies] = (sums[varies, 2] - sums[varies, 0] * known.mean()) / np.sqrt(own[varies]) / spread
        return result

    return pearson


def _segment_accuracy(
    human: NDArray[np.float64],
    metrics: tuple[NDArray[np.float64], NDArray[np.float64]],
    thresholds: tuple[float, float],
    units: NDArray[np.intp],
    rows: NDArray[np.int8],
) -> Values:
    accuracies = [item_accuracy(human, *each) for each in zip(metrics, thresholds, strict=True)]
    items = int((~np.isnan(accuracies[0])).sum())
    if not items:
        return _no_value(rows), _no_value(rows)
    sums = [unit_sums(np.nan_to_num(each)[None, :], units, rows.shape[1]) for each in accuracies]
    return _linear(sums, rows, lambda moved: moved[:, 0] / items)


def _soft(
    human: NDArray[np.float64],
    standard: tuple[NDArray[np.float64], NDArray[np.float64]],
    units: NDArray[np.intp],
    rows: NDArray[np.int8],
    inner: NDArray[np.int8],
) -> Values:
    """Soft accuracy, which is no function of sums: pairs of systems are tested anew after every exchange."""
    human_differences = pair_differences(human)
    reached = ~np.isnan(human_differences)
    shared = reached.any(axis=1)
    values = _no_value(rows), _no_value(rows)
    if not shared.any():
        return values
    human_p = pair_p_values(human_differences, units, inner)[:, shared]
    differences = [np.where(reached, pair_differences(scores), 0.0)[shared] for scores in standard]
    tolerance = ROUNDING * (np.abs(differences[0]) + np.abs(differences[1])).sum(axis=1)
    complete = (reached == reached[0]).all()
    if complete:
        # All pairs share the same segments: a pair is the difference of two systems' sums.
        first, second = system_pairs(human.shape[0])
        columns, spread = [scores * reached[0] for scores in standard], np.zeros((human.shape[0], first.size))
        spread[first, np.arange(first.size)], spread[second, np.arange(first.size)] = 1.0, -1.0
    else:
        columns, spread = differences, np.eye(differences[0].shape[0])
    sums = [unit_sums(each, units, rows.shape[1]) for each in columns]
    middle, half = (sums[0] + sums[1]) / 2, (sums[0] - sums[1]) / 2
    used = (middle != 0).any(axis=1) | (half != 0).any(axis=1)
    middle, half, rows = middle[used], half[used], rows[:, used]
    permuted = inner[:, used].astype(np.float64)
    unmoved = permuted @ middle @ spread
    for place, row in enumerate(progress(rows, what="permutations")):
        moved = row[:, None] * half
        shift = permuted @ moved @ spread
        for side, found in zip((1.0, -1.0), values, strict=True):
            null = unmoved + side * shift
            observed = (middle + side * moved).sum(axis=0) @ spread
            counts = (null >= observed - tolerance).sum(axis=0), (null <= observed + tolerance).sum(axis=0)
            p = (np.stack(counts) + 1.0) / (inner.shape[0] + 1.0)
            found[place] = 1.0 - np.abs(human_p - p).mean()
    return values
