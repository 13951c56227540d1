"""What a random-intercept model needs of its rows: sums by cell and cross-products by segment size.

A segment with n rows enters the inverse covariance only through n, so that segments of one size share their
weights. Fitting then costs nothing per row, whatever the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.mixed.threads import one_thread

_CHUNK = 4096
"""Segments whose counts by cell are held at a time."""
_STACK_LIMIT = 1 << 24
"""Numbers that the cross-products may hold (128 MiB); beyond, they are made anew for each weighting."""


@dataclass(frozen=True, slots=True)
class SegmentCounts:
    """Rows of S segments by cell, N: sparse, shape ``(S, p)``, the segments in order of their sizes.

    ``group`` (shape ``(S,)``) numbers each segment's size among K distinct ones; ``stack`` (shape
    ``(K, p, p)``) holds Σ N N' of each size where it is small enough to keep.
    """

    table: Any
    group: NDArray[np.intp]
    stack: NDArray[np.float64] | None

    def weighted(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Σ weight × N N', shape ``(p, p)``, from one weight a size, shape ``(K,)``."""
        if self.stack is not None:
            return np.tensordot(weights, self.stack, axes=1)
        p = self.table.shape[1]
        total = np.zeros((p, p))
        by_segment = weights[self.group]
        for low in range(0, by_segment.size, _CHUNK):
            here = slice(low, low + _CHUNK)
            dense = self.table[here].toarray()
            total += (dense * by_segment[here, np.newaxis]).T @ dense
        return total

    def times(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Σ N × value by size, shape ``(K, p)``, from one value a segment, shape ``(S,)``."""
        from scipy.sparse import coo_array

        shape = (int(self.group[-1]) + 1, self.group.size)
        by_size = coo_array((values, (self.group, np.arange(self.group.size))), shape=shape).tocsr()
        return (by_size @ self.table).toarray()

    def sums_of(self, cells: NDArray[np.float64]) -> NDArray[np.float64]:
        """N × one value a cell, summed by segment: shape ``(S,)``."""
        return self.table @ cells


@dataclass(frozen=True, slots=True)
class CellSums:
    """Sufficient statistics of n rows in p cells and S segments of K distinct sizes.

    Values are residuals from the cells' ``means`` (shape ``(p,)``), so that no size or difference of these
    costs digits. ``totals`` holds the sum of each segment's residuals, shape ``(S,)`` in the order of
    ``rows``. ``sizes`` (rows a segment) and ``segments`` (how many of that size) have shape ``(K,)``. Within
    segments, that is of differences from a segment's own mean: ``gram`` X'X ``(p, p)`` and ``linear`` X'y
    ``(p,)`` of the cells' indicators X, and the sum of squares ``square``. What lies between segments is in
    ``rows`` and ``totals``.
    """

    n: int
    counts: NDArray[np.float64]
    means: NDArray[np.float64]
    sizes: NDArray[np.float64]
    segments: NDArray[np.float64]
    rows: SegmentCounts
    totals: NDArray[np.float64]
    gram: NDArray[np.float64]
    linear: NDArray[np.float64]
    square: float


def cell_sums(values: NDArray[np.float64], cells: NDArray[np.intp], segments: NDArray[np.intp]) -> CellSums:
    """Sum up ``values`` (no NaN) by cell and segment, all of shape ``(n,)`` with n > 0.

    ``cells`` are numbered from 0 without gaps; ``segments`` are any integers. ``ValueError`` where a cell has
    no row.
    """
    from scipy.sparse import coo_array

    n, p = int(values.size), int(cells.max()) + 1
    counts = np.bincount(cells, minlength=p).astype(np.float64)
    if not counts.all():
        raise ValueError("a cell has no row: number the cells that have any")
    shift = float(values.mean())
    residuals = values - shift
    means = np.bincount(cells, weights=residuals, minlength=p) / counts
    residuals -= means[cells]

    _, codes = np.unique(segments, return_inverse=True)
    size = np.bincount(codes)
    by_size = np.argsort(size, kind="stable")
    place = np.empty_like(by_size)
    place[by_size] = np.arange(by_size.size)
    codes = place[codes]
    sizes, group, members = np.unique(size[by_size], return_inverse=True, return_counts=True)

    table = coo_array((np.ones(n), (codes, cells)), shape=(by_size.size, p)).tocsr()
    with one_thread():
        stack = _stack(table, members) if sizes.size * p * p <= _STACK_LIMIT else None
        rows = SegmentCounts(table, group, stack)
        gram = np.diag(counts) - rows.weighted(1.0 / sizes)
    totals = np.bincount(codes, weights=residuals).astype(np.float64)
    own = totals / size[by_size]
    within = residuals - own[codes]
    return CellSums(
        n=n,
        counts=counts,
        means=means + shift,
        sizes=sizes.astype(np.float64),
        segments=members.astype(np.float64),
        rows=rows,
        totals=totals,
        gram=gram,
        linear=np.bincount(cells, weights=within, minlength=p).astype(np.float64),
        square=float(within @ within),
    )


def _stack(table: Any, members: NDArray[np.intp]) -> NDArray[np.float64]:
    """Σ N N' of the segments of each size; ``members`` counts them, in the order of ``table``'s rows."""
    p = table.shape[1]
    stack = np.zeros((members.size, p, p))
    start = 0
    for place, count in enumerate(members):
        for low in range(start, start + count, _CHUNK):
            dense = table[low : min(low + _CHUNK, start + count)].toarray()
            stack[place] += dense.T @ dense
        start += count
    return stack
