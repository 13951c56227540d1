"""Cells of a table and the designs of models over them, all as linear maps of the cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells that have rows: ``levels`` (shape ``(p, k)``) holds each cell's level of each of k factors.

    ``codes`` (shape ``(n,)``) numbers the rows' cells from 0 without gaps; ``empty`` (shape ``(m, k)``) holds
    the combinations of levels, each seen somewhere, that no row has.
    """

    levels: NDArray[np.intp]
    codes: NDArray[np.intp]
    empty: NDArray[np.intp]


def cross_cells(factors: Sequence[NDArray[np.intp]]) -> Cells:
    """Number the combinations of the factors' levels, in the order of the levels' numbers."""
    seen = [np.unique(factor, return_inverse=True) for factor in factors]
    sizes = tuple(int(names.size) for names, _ in seen)
    joint = np.ravel_multi_index([codes for _, codes in seen], sizes)
    present, codes = np.unique(joint, return_inverse=True)
    absent = np.setdiff1d(np.arange(int(np.prod(sizes))), present)
    return Cells(_named(present, sizes, seen), codes, _named(absent, sizes, seen))


def _named(
    joint: NDArray[np.intp],
    sizes: tuple[int, ...],
    seen: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
) -> NDArray[np.intp]:
    places = np.unravel_index(joint, sizes)
    return np.stack([names[place] for (names, _), place in zip(seen, places, strict=True)], axis=1)


def effects(levels: NDArray[np.intp], *terms: tuple[int, ...]) -> NDArray[np.float64]:
    """Indicator columns of each term, a tuple of the factors that it crosses: shape ``(p, columns)``.

    Columns may depend on one another; ``independent`` makes a basis of them.
    """
    blocks = []
    for term in terms:
        _, codes = np.unique(levels[:, list(term)], axis=0, return_inverse=True)
        blocks.append(np.eye(int(codes.max()) + 1)[codes.reshape(-1)])
    return np.concatenate(blocks, axis=1)


def independent(
    columns: NDArray[np.float64], *, beside: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """The columns, in order, that are in the span of neither ``beside`` nor the columns before them.

    ``beside`` has full column rank.
    """
    rows = columns.shape[0]
    basis, filled = np.empty((rows, rows)), 0
    if beside is not None:
        filled = beside.shape[1]
        basis[:, :filled] = np.linalg.qr(beside)[0]
    kept: list[int] = []
    for place, column in enumerate(columns.T):
        if filled == rows:
            break
        known = basis[:, :filled]
        # Projecting twice keeps the remainder orthogonal where it is small.
        left = column - known @ (known.T @ column)
        left = left - known @ (known.T @ left)
        length = float(np.linalg.norm(left))
        if length > 1e-8 * float(np.linalg.norm(column)):
            basis[:, filled] = left / length
            filled += 1
            kept.append(place)
    return columns[:, kept]
