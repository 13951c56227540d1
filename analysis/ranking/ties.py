"""Pairs of translations of the same segment: ties, and accuracy with calibrated ties."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.ranking.pairwise import pair_differences, rounding, signs

_SAME = 1e-12
"""Accuracies that differ by less are one accuracy, summed in another order."""


@dataclass(frozen=True, slots=True)
class TieCount:
    """Pairs of translations of the same segment, and how many of them have the same score.

    ``hidden`` of the ``ties`` are stored as two numbers that differ by rounding.
    """

    pairs: int
    ties: int
    hidden: int

    @property
    def rate(self) -> float | None:
        """Share of tied pairs; ``None`` where there is no pair."""
        return self.ties / self.pairs if self.pairs else None


@dataclass(frozen=True, slots=True)
class TieCalibration:
    """Segment-level pairwise accuracy at the best threshold; everything is ``None`` where there is no pair.

    Two translations count as tied for the metric where their scores differ by at most ``threshold`` (in
    metric units). ``uncalibrated`` is the accuracy at a threshold of 0. ``items`` are segments with a pair.
    """

    accuracy: float | None
    threshold: float | None
    uncalibrated: float | None
    pairs: int
    items: int
    gold_tie_rate: float | None
    tie_rate: float | None
    calibrated_tie_rate: float | None


def count_ties(segments: NDArray[np.float64]) -> TieCount:
    """Tied pairs of systems on the same segment; ``segments`` has shape ``(systems, segments)``."""
    differences = pair_differences(segments)
    known = differences[~np.isnan(differences)]
    ties = int((np.abs(known) <= rounding(segments)).sum())
    return TieCount(known.size, ties, ties - int((known == 0).sum()))


def calibrate_ties(gold: NDArray[np.float64], metric: NDArray[np.float64]) -> TieCalibration:
    """Find the threshold of a tie at which a metric agrees best with humans on pairs of translations.

    Both arrays have shape ``(systems, segments)``, higher is better, NaN where missing. A pair agrees where
    both sides tie or both prefer the same translation; a segment's accuracy is the share of its pairs that
    agree, and accuracy is the mean over segments with a pair (grouping by item). Every difference that occurs
    is tried as a threshold, and 0; of equally good ones the smallest is taken. Pairs become ties in the order
    of their differences, so that one sort and one running sum give all accuracies: O(n log n).

    Source: Deutsch, Foster and Freitag 2023, "Ties Matter", sections 4 and 5 (acc_eq, tie calibration).
    """
    human, automatic, known = _pairs(gold, metric)
    sizes = known.sum(axis=0)
    items = int((sizes > 0).sum())
    if not items:
        return TieCalibration(None, None, None, 0, 0, None, None, None)
    noise = rounding(metric)
    item = np.nonzero(known)[1]
    human_sign, difference = human[known], automatic[known]
    metric_sign, magnitude = signs(difference, noise), np.abs(difference)
    agreeing = (human_sign != 0) & (human_sign == metric_sign)
    gain = (human_sign == 0).astype(np.int64) - agreeing

    order = np.argsort(magnitude, kind="stable")
    ascending = magnitude[order]
    # Each threshold is the last of differences that are the same but for rounding; "no pair" comes first.
    last = np.append(np.diff(ascending) > noise, True)
    if ascending[0] <= noise:
        thresholds = np.where(ascending[last] <= noise, 0.0, ascending[last])
        counted = np.flatnonzero(last) + 1
    else:
        thresholds = np.append(0.0, ascending[last])
        counted = np.append(0, np.flatnonzero(last) + 1)

    accuracies = np.zeros(thresholds.size)
    # Segments with the same number of pairs weigh the same: whole numbers are summed among them.
    for size in np.unique(sizes[sizes > 0]):
        here = sizes[item] == size
        running = np.append(0, np.cumsum(np.where(here[order], gain[order], 0)))
        accuracies += (agreeing[here].sum() + running[counted]) / (int(size) * items)
    best = int(np.argmax(accuracies >= accuracies.max() - _SAME))
    pairs = int(magnitude.size)
    return TieCalibration(
        accuracy=float(accuracies[best]),
        threshold=float(thresholds[best]),
        uncalibrated=float(accuracies[0]),
        pairs=pairs,
        items=items,
        gold_tie_rate=float((human_sign == 0).mean()),
        tie_rate=float((magnitude <= noise).mean()),
        calibrated_tie_rate=float(counted[best] / pairs),
    )


def item_accuracy(
    gold: NDArray[np.float64], metric: NDArray[np.float64], threshold: float
) -> NDArray[np.float64]:
    """Accuracy of each segment's pairs at a given threshold, shape ``(segments,)``; NaN without a pair."""
    human, automatic, known = _pairs(gold, metric)
    agree = (human == signs(automatic, threshold + rounding(metric))) & known
    sizes = known.sum(axis=0)
    result = np.full(sizes.size, np.nan)
    np.divide(agree.sum(axis=0), sizes, out=result, where=sizes > 0)
    return result


def _pairs(
    gold: NDArray[np.float64], metric: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Signs of human differences, the metric's differences, where both are known: ``(pairs, segments)``."""
    if gold.shape != metric.shape:
        raise ValueError(f"human scores of shape {gold.shape}, metric scores of shape {metric.shape}")
    human = signs(pair_differences(gold), rounding(gold))
    automatic = pair_differences(metric)
    return human, automatic, ~(np.isnan(human) | np.isnan(automatic))
