"""Cells, and effects as linear maps of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.mixed.design import cross_cells, effects, independent

SEEDS = st.integers(0, 2**32 - 1)


def test_cells_are_numbered_and_the_empty_ones_listed() -> None:
    cells = cross_cells([np.array([5, 5, 2, 5]), np.array([0, 1, 1, 0])])
    assert cells.levels.tolist() == [[2, 1], [5, 0], [5, 1]]
    assert cells.codes.tolist() == [1, 2, 0, 1]
    assert cells.empty.tolist() == [[2, 0]]


@given(SEEDS)
def test_every_row_is_in_the_cell_of_its_levels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    factors = [rng.integers(0, size, 20) for size in (3, 2, 4)]
    cells = cross_cells(factors)
    np.testing.assert_array_equal(cells.levels[cells.codes], np.stack(factors, axis=1))
    sizes = [np.unique(factor).size for factor in factors]
    assert len(cells.levels) + len(cells.empty) == np.prod(sizes)
    together = [*map(tuple, cells.levels.tolist()), *map(tuple, cells.empty.tolist())]
    assert len(set(together)) == len(together)


@pytest.mark.parametrize(
    ("terms", "rank"),
    [
        ([(0,)], 3),
        ([(0,), (1,)], 3 + 4 - 1),
        ([(0, 1)], 12),
        ([(0,), (1,), (0, 1)], 12),
        ([(0, 1), (2,)], 12 + 1),
        ([(0, 1), (1, 2)], 12 + 4),  # metric × factor: (4 - 1)(2 - 1) beyond the factor
        ([(0, 1, 2)], 24),
    ],
)
def test_ranks_of_full_crossings(terms: list[tuple[int, ...]], rank: int) -> None:
    levels = np.stack(np.unravel_index(np.arange(24), (3, 4, 2)), axis=1)
    columns = effects(levels, *terms)
    assert set(np.unique(columns)) <= {0.0, 1.0}
    assert independent(columns).shape == (24, rank)


@given(SEEDS)
def test_independent_columns_are_a_basis(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(2, 9))
    base = rng.integers(-2, 3, size=(rows, 3)).astype(float)
    columns = np.concatenate([base, base @ rng.integers(-2, 3, size=(3, 4))], axis=1)
    basis = independent(columns)
    assert basis.shape[1] == np.linalg.matrix_rank(columns) == np.linalg.matrix_rank(basis)
    more = rng.integers(-2, 3, size=(rows, 5)).astype(float)
    extra = independent(more, beside=basis)
    joined = np.column_stack([basis, extra])
    assert joined.shape[1] == np.linalg.matrix_rank(joined)
    assert joined.shape[1] == np.linalg.matrix_rank(np.column_stack([columns, more]))
