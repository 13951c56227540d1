"""Whether one residual variance can stand for all cells: SDs within cells, pooled by a factor's levels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LARGEST_RATIO = 1.5
"""SDs further apart than this are not taken for one."""
_FEWEST_DF = 50
"""Degrees of freedom below which an SD is too uncertain to be compared."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The levels with the smallest and the largest SD within cells, in the unit of the values."""

    smallest: int
    smallest_sd: float
    largest: int
    largest_sd: float


def uneven_spread(
    values: NDArray[np.float64], cells: NDArray[np.intp], levels: NDArray[np.intp]
) -> Spread | None:
    """Compare SDs within cells, pooled over the rows of each level; all arrays of shape ``(n,)``.

    Cells are numbered from 0 without gaps, levels from 0. ``None`` where the largest SD is at most
    ``LARGEST_RATIO`` times the smallest, or fewer than two levels have 50 degrees of freedom. With one
    residual variance in a model, standard errors are too small where the SD is large and too large where it
    is small.
    """
    rows = np.bincount(cells)
    centred = values - values.mean()
    means = np.bincount(cells, weights=centred) / rows
    squares = np.bincount(levels, weights=(centred - means[cells]) ** 2)
    # Each row brings its share of its cell's degrees of freedom.
    df = np.bincount(levels, weights=1.0 - 1.0 / rows[cells])
    known = np.flatnonzero(df >= _FEWEST_DF)
    if known.size < 2:
        return None
    spreads = np.sqrt(squares[known] / df[known])
    low, high = int(spreads.argmin()), int(spreads.argmax())
    if spreads[high] <= LARGEST_RATIO * spreads[low]:
        return None
    return Spread(int(known[low]), float(spreads[low]), int(known[high]), float(spreads[high]))
