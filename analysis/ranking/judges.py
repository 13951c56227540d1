"""One condition's rankings from two halves of its judgements: the same translations, other judges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from analysis.ranking.units import Block, UnitTable

_CELLS_AT_ONCE = 4_000_000


def twice_judged(table: UnitTable, block: Block, condition: str) -> NDArray[np.bool_]:
    """Which units of the block (shape ``(units,)``) have two judgements or more of every system."""
    twice: NDArray[np.bool_] = np.all(_counts(table, block, condition) >= 2, axis=0)
    return twice


def split_judgements(
    table: UnitTable, block: Block, condition: str, splits: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """System means from one half of each unit's judgements, drawn at random, and from the other.

    Two arrays of shape ``(splits, systems)``; each unit counts once, and of an odd number of judgements the
    second half has one more. Every unit of ``block`` must have two judgements of every system
    (``twice_judged``).
    """
    judgements = _judgements(table, block, condition)
    systems, units, most = judgements.shape
    there = ~np.isnan(judgements)
    counts = there.sum(axis=2)
    values = np.where(there, judgements, 0.0)
    totals = values.sum(axis=2)
    half = (counts // 2)[..., np.newaxis]
    rng = np.random.default_rng(seed)
    first, second = [], []
    step = max(1, _CELLS_AT_ONCE // values.size)
    for start in range(0, splits, step):
        size = min(step, splits - start)
        keys = np.where(there, rng.random((size, systems, units, most)), np.inf)
        chosen = keys.argsort(axis=3).argsort(axis=3) < half
        sums = (chosen * values).sum(axis=3)
        first.append((sums / (counts // 2)).mean(axis=2))
        second.append(((totals - sums) / (counts - counts // 2)).mean(axis=2))
    return np.concatenate(first), np.concatenate(second)


def _rows(
    table: UnitTable, block: Block, condition: str
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """The block's judgements in one condition: system and unit in the block's order, and score."""
    shape = (len(table.conditions), len(table.systems), table.document.size)
    rows = np.flatnonzero((table.metric_code == table.metrics.index(block.metric)) & ~np.isnan(table.score))
    of_condition, system, unit = np.unravel_index(table.cell[rows], shape)
    place_of_system = np.full(len(table.systems), -1)
    place_of_system[[table.systems.index(name) for name in block.systems]] = np.arange(len(block.systems))
    place_of_unit = np.full(table.document.size, -1)
    place_of_unit[block.unit] = np.arange(block.units)
    system, unit = place_of_system[system], place_of_unit[unit]
    kept = (of_condition == table.conditions.index(condition)) & (system >= 0) & (unit >= 0)
    return system[kept], unit[kept], table.score[rows][kept]


def _counts(table: UnitTable, block: Block, condition: str) -> NDArray[np.int64]:
    system, unit, _ = _rows(table, block, condition)
    shape = (len(block.systems), block.units)
    counts = np.bincount(system * block.units + unit, minlength=shape[0] * shape[1])
    return counts.astype(np.int64).reshape(shape)


def _judgements(table: UnitTable, block: Block, condition: str) -> NDArray[np.float64]:
    """Scores of shape ``(systems, units, most judgements of one)``, sorted, NaN where there are fewer."""
    system, unit, score = _rows(table, block, condition)
    cell = system * block.units + unit
    order = np.lexsort((score, cell))
    cell, score = cell[order], score[order]
    place = np.arange(cell.size) - np.searchsorted(cell, cell)
    laid_out = np.full((len(block.systems) * block.units, int(place.max()) + 1), np.nan)
    laid_out[cell, place] = score
    return laid_out.reshape(len(block.systems), block.units, -1)
