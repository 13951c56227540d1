"""Two-way cluster-robust means against a dense formula and statsmodels."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.statistics.estimates import cluster_mean
from analysis.statistics.two_way import combine, two_way_mean

RNG = np.random.default_rng(5)
DOCS = RNG.integers(0, 9, 200)
PEOPLE = RNG.integers(0, 4, 200)
VALUES = RNG.normal(size=9)[DOCS] + RNG.normal(size=4)[PEOPLE] + RNG.normal(size=200) + 0.3


def dense(values: Sequence[float], first: Sequence[object], second: Sequence[object]) -> float:
    """The variance as a double sum over all pairs of values that share a cluster, each term corrected."""
    n, mean = len(values), sum(values) / len(values)

    def one_way(keys: Sequence[object]) -> float:
        groups = len(set(keys))
        total = sum(
            (values[i] - mean) * (values[j] - mean) for i in range(n) for j in range(n) if keys[i] == keys[j]
        )
        return total / n**2 * groups / (groups - 1)

    return one_way(first) + one_way(second) - one_way(list(zip(first, second, strict=True)))


def test_equals_the_dense_formula() -> None:
    found = two_way_mean(VALUES, DOCS, PEOPLE)
    assert found.state == "ok" and found.variance_from == "two-way"
    assert found.se == pytest.approx(math.sqrt(dense(VALUES, DOCS, PEOPLE)), rel=1e-12)
    assert (found.n, found.missing, found.clusters, found.df) == (200, 0, (9, 4), 3.0)
    assert found.cells == len(set(zip(DOCS.tolist(), PEOPLE.tolist(), strict=True)))
    assert found.mean == pytest.approx(VALUES.mean())


def test_equals_statsmodels() -> None:
    # Its correction of each term is G / (G - 1) × (N - 1) / (N - k), and k is 1.
    fit = sm.OLS(VALUES, np.ones(200)).fit(
        cov_type="cluster", cov_kwds={"groups": np.column_stack([DOCS, PEOPLE]), "use_correction": True}
    )
    assert two_way_mean(VALUES, DOCS, PEOPLE).se == pytest.approx(fit.bse[0], rel=1e-12)


def test_by_hand() -> None:
    # Mean 2, residuals -2 -1 0 3. Sums: a -3, b 3; x -2, y 2; each cell holds one value.
    found = two_way_mean([0.0, 1.0, 2.0, 5.0], ["a", "a", "b", "b"], ["x", "y", "x", "y"])
    # (18 × 2 + 8 × 2 - 14 × 4/3) / 16
    assert found.se == pytest.approx(math.sqrt((36 + 16 - 56 / 3) / 16))
    assert (found.df, found.cells) == (1.0, 4)


def test_nested_clusters_leave_the_coarser_or_what_the_finer_have_themselves() -> None:
    ways = [[number // size for number in range(200)] for size in (50, 10)]
    found = two_way_mean(VALUES, *ways)
    errors = [cluster_mean(VALUES, way, correction="CR1").se or 0.0 for way in ways]
    assert found.se == pytest.approx(max(errors), rel=1e-12)


def test_independent_values_keep_the_error_of_the_combinations() -> None:
    """The difference of variances may fall far below that of values without any clusters."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        values, rows, columns = rng.normal(size=120), rng.integers(0, 12, 120), rng.integers(0, 12, 120)
        cells = cluster_mean(values, 12 * rows + columns, correction="CR1")
        found = two_way_mean(values, rows, columns)
        if found.variance_from == "two-way":
            assert (found.se or 0.0) >= (cells.se or 0.0) - 1e-12


def test_a_variance_that_is_not_positive_says_so() -> None:
    # Rows and columns nearly sum to zero while the cells vary: the difference is negative.
    values = [1.0, -1.0, -1.0, 1.2]
    rows, columns = ["a", "a", "b", "b"], ["x", "y", "x", "y"]
    assert dense(values, rows, columns) < 0
    found = two_way_mean(values, rows, columns)
    assert found.variance_from == "first clustering"
    assert found.se == pytest.approx(cluster_mean(values, rows, correction="CR1").se)
    assert found.df == 1.0
    assert combine(1.0, 2.0, 3.0) == (2.0, "second clustering")
    assert combine(1.0, 2.0, 2.5) == (2.5, "two-way")
    assert combine(2.0, 2.0, 1.0) == (3.0, "two-way")


def test_below_one_way_is_told() -> None:
    values = [1.0, -1.0, 0.2, 1.2, -0.3, 0.9]
    rows, columns = ["a", "a", "b", "b", "c", "c"], ["x", "y", "x", "y", "x", "y"]
    variance = dense(values, rows, columns)
    ones = [cluster_mean(values, keys, correction="CR1").se or 0.0 for keys in (rows, columns)]
    found = two_way_mean(values, rows, columns)
    assert found.below_one_way == (0 < variance < min(ones) ** 2)
    assert not two_way_mean(VALUES, DOCS, PEOPLE).below_one_way


@pytest.mark.parametrize(
    ("values", "first", "second", "state", "mean"),
    [
        ([], [], [], "no data", None),
        ([None, math.nan], "ab", "xy", "no data", None),
        ([1.0, 2.0], "aa", "xy", "too few", 1.5),
        ([1.0, 2.0], "ab", "xx", "too few", 1.5),
        ([0.3 - 0.1, 0.2, 0.2], "abc", "xyx", "degenerate", 0.2),
        ([1.0, -1.0, -1.0, 1.0], "aabb", "xyxy", "degenerate", 0.0),
    ],
)
def test_states(values: list[float | None], first: str, second: str, state: str, mean: float | None) -> None:
    found = two_way_mean(values, list(first), list(second))
    assert (found.state, found.se, found.df, found.variance_from) == (state, None, None, None)
    assert found.mean == (None if mean is None else pytest.approx(mean))


def test_missing_values_go_with_their_clusters() -> None:
    found = two_way_mean([1.0, None, 2.0, 4.0, math.nan], list("abcad"), [("x", 1), ("y",), "x", "z", "w"])
    assert (found.n, found.missing, found.clusters) == (3, 2, (2, 3))
    with pytest.raises(ValueError, match="5 values, 4 and 5 clusters"):
        two_way_mean([1.0] * 5, list("abcd"), list("abcde"))


@settings(max_examples=30, deadline=None)
@given(st.permutations(range(60)), st.floats(0.01, 100.0), st.floats(-50.0, 50.0))
def test_order_names_scale_and_shift(order: list[int], scale: float, shift: float) -> None:
    values, docs, people = VALUES[:60], DOCS[:60], PEOPLE[:60]
    plain = two_way_mean(values, docs, people)
    other = two_way_mean(
        values[order] * scale + shift,
        [f"document {9 - number}" for number in docs[order]],
        [f"person {number}" for number in people[order]],
    )
    assert plain.se is not None and plain.mean is not None
    assert other.se == pytest.approx(plain.se * scale, rel=1e-9)
    assert other.mean == pytest.approx(plain.mean * scale + shift, rel=1e-9, abs=1e-9)
    swapped = two_way_mean(values, people, docs)
    assert swapped.se == pytest.approx(plain.se, rel=1e-12)


def test_duplicated_rows_change_only_the_count() -> None:
    twice = two_way_mean(np.tile(VALUES, 2), np.tile(DOCS, 2), np.tile(PEOPLE, 2))
    assert twice.se == pytest.approx(two_way_mean(VALUES, DOCS, PEOPLE).se, rel=1e-12)
    assert twice.n == 400
