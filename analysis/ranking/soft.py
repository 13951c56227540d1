"""Soft pairwise accuracy: does a metric know how sure humans are which of two systems is better."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.ranking.pairwise import pair_differences
from analysis.statistics.estimates import ROUNDING

_CHUNK = 1 << 22
"""Numbers held at once while permutations are multiplied out."""


@dataclass(frozen=True, slots=True)
class SoftAccuracy:
    """``accuracy`` is ``None`` where no pair of systems shares a segment; ``missing`` pairs share none."""

    accuracy: float | None
    pairs: int
    missing: int


def draw_flips(units: int, permutations: int, seed: int) -> NDArray[np.int8]:
    """Which units are flipped in which permutation: ±1 with equal chance, shape ``(permutations, units)``."""
    drawn = np.random.default_rng(seed).integers(0, 2, size=(permutations, units), dtype=np.int8)
    return np.asarray(2 * drawn - 1, dtype=np.int8)


def unit_sums(values: NDArray[np.float64], units: NDArray[np.intp], count: int) -> NDArray[np.float64]:
    """Sums over the segments of each unit: shape ``(rows, segments)`` to ``(count, rows)``.

    ``units`` is the number of each segment's unit, shape ``(segments,)``.
    """
    sums = np.zeros((count, values.shape[0]))
    np.add.at(sums, units, values.T)
    return sums


def flip_chunks(flips: NDArray[np.int8], columns: int) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """The rows of ``flips`` as floats, in parts small enough to be multiplied by ``columns`` columns."""
    step = max(1, _CHUNK // max(flips.shape[1], columns, 1))
    for start in range(0, flips.shape[0], step):
        part = slice(start, min(start + step, flips.shape[0]))
        yield part, flips[part].astype(np.float64)


def pair_p_values(
    differences: NDArray[np.float64], units: NDArray[np.intp], flips: NDArray[np.int8]
) -> NDArray[np.float64]:
    """One-sided p-values of pairs of systems by paired permutation, in both directions: ``(2, pairs)``.

    ``differences`` has shape ``(pairs, segments)``, NaN where the pair does not share the segment. Row 0
    tests that the first system is better, row 1 that the second is. The statistic is the sum of differences;
    each permutation exchanges the two systems on whole units. p = (k + 1) / (B + 1), where sums that equal
    the observed one but for rounding count into k.
    """
    known = np.where(np.isnan(differences), 0.0, differences)
    sums = unit_sums(known, units, flips.shape[1])
    observed = known.sum(axis=1)
    tolerance = ROUNDING * np.abs(known).sum(axis=1)
    counts = np.zeros((2, observed.size), dtype=np.int64)
    for _, part in flip_chunks(flips, observed.size):
        permuted = part @ sums
        counts[0] += (permuted >= observed - tolerance).sum(axis=0)
        counts[1] += (permuted <= observed + tolerance).sum(axis=0)
    return (counts + 1.0) / (flips.shape[0] + 1.0)


def soft_accuracy(
    gold: NDArray[np.float64],
    metric: NDArray[np.float64],
    units: NDArray[np.intp],
    flips: NDArray[np.int8],
) -> SoftAccuracy:
    """1 minus the mean difference of p-values, |p_human - p_metric|, over all pairs of systems.

    Segment scores of shape ``(systems, segments)``, higher is better; both sides are tested on the segments
    that have all four scores, with the same permutations. Each pair is tested in both directions and the two
    differences are averaged, which makes the order of systems immaterial: where no permutation ties with what
    was observed both are the same, the published definition.

    Source: Thompson, Mathur, Deutsch and Khayrallah 2024, "Improving Statistical Significance in Human
    Evaluation of Automatic Metrics via Soft Pairwise Accuracy", section 3.
    """
    human, automatic = pair_differences(gold), pair_differences(metric)
    known = ~(np.isnan(human) | np.isnan(automatic))
    shared = known.any(axis=1)
    pairs = int(shared.sum())
    if not pairs:
        return SoftAccuracy(None, 0, shared.size)
    human = np.where(known, human, np.nan)[shared]
    automatic = np.where(known, automatic, np.nan)[shared]
    error = np.abs(pair_p_values(human, units, flips) - pair_p_values(automatic, units, flips))
    return SoftAccuracy(1.0 - float(error.mean()), pairs, shared.size - pairs)
