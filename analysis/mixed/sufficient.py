"""What a random-intercept model needs of its rows: sums by cell and cross-products by segment size.

A segment with n rows enters the inverse covariance only through n, so that segments of one size share their
weights. Fitting then costs nothing per row, whatever the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_CHUNK = 4096
"""Segments whose counts by cell are held at a time."""


@dataclass(frozen=True, slots=True)
class CellSums:
    """Sufficient statistics of n rows in p cells and S segments of K distinct sizes.

    ``shift`` was subtracted from the values. ``counts`` and ``sums`` have shape ``(p,)``; ``sizes`` (rows a
    segment) and ``segments`` (how many of that size) ``(K,)``. With N the counts of one segment by cell and T
    the sum of its values, summed over the segments of one size: ``cross`` N N' ``(K, p, p)``, ``cross_sums``
    N T ``(K, p)``, ``square_sums`` T² ``(K,)``. ``square`` is the sum of squares of all values.
    """

    n: int
    shift: float
    counts: NDArray[np.float64]
    sums: NDArray[np.float64]
    square: float
    sizes: NDArray[np.float64]
    segments: NDArray[np.float64]
    cross: NDArray[np.float64]
    cross_sums: NDArray[np.float64]
    square_sums: NDArray[np.float64]


def cell_sums(values: NDArray[np.float64], cells: NDArray[np.intp], segments: NDArray[np.intp]) -> CellSums:
    """Sum up ``values`` (no NaN) by cell and segment, all of shape ``(n,)`` with n > 0.

    ``cells`` are numbered from 0 without gaps; ``segments`` are any integers. Memory grows with K p², not
    with n. ``ValueError`` where a cell has no row.
    """
    n = int(values.size)
    p = int(cells.max()) + 1
    counts = np.bincount(cells, minlength=p).astype(np.float64)
    if not counts.all():
        raise ValueError("a cell has no row: number the cells that have any")
    shift = float(values.mean())
    centred = values - shift
    _, codes = np.unique(segments, return_inverse=True)
    rows = np.bincount(codes)
    by_size = np.argsort(rows, kind="stable")
    rank = np.empty_like(by_size)
    rank[by_size] = np.arange(by_size.size)
    place = rank[codes]
    order = np.argsort(place, kind="stable")
    place, ordered_cells, ordered = place[order], cells[order], centred[order]
    sizes, first, members = np.unique(rows[by_size], return_index=True, return_counts=True)
    cross = np.zeros((sizes.size, p, p))
    cross_sums, square_sums = np.zeros((sizes.size, p)), np.zeros(sizes.size)
    start = 0
    for group, (size, begin, count) in enumerate(zip(sizes, first, members, strict=True)):
        for low in range(begin, begin + count, _CHUNK):
            width = min(_CHUNK, begin + count - low)
            here = slice(start, start + width * int(size))
            local = place[here] - low
            table = np.bincount(local * p + ordered_cells[here], minlength=width * p).reshape(width, p)
            dense = table.astype(np.float64)
            totals = np.bincount(local, weights=ordered[here], minlength=width)
            cross[group] += dense.T @ dense
            cross_sums[group] += totals @ dense
            square_sums[group] += float(totals @ totals)
            start = here.stop
    return CellSums(
        n=n,
        shift=shift,
        counts=counts,
        sums=np.bincount(cells, weights=centred, minlength=p).astype(np.float64),
        square=float(centred @ centred),
        sizes=sizes.astype(np.float64),
        segments=members.astype(np.float64),
        cross=cross,
        cross_sums=cross_sums,
        square_sums=square_sums,
    )
