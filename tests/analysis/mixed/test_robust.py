"""Robust errors of cells together: closed forms, simulation, the size of the test, what is not tested."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.mixed.robust import interaction_wald, robust_cell_means, wishart_df
from analysis.statistics.estimates import Correction, cluster_mean

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS, st.sampled_from(["CR0", "CR1", "CR2"]))
def test_a_cell_alone_is_cluster_mean(seed: int, correction: Correction) -> None:
    rng = np.random.default_rng(seed)
    segments = np.concatenate([[0, 1], rng.integers(0, 8, int(rng.integers(2, 30)))])
    values = rng.normal(size=segments.size) + 1e3
    one = np.zeros(segments.size, dtype=np.intp)
    means, covariance = robust_cell_means(values, one, segments, correction=correction)
    found = cluster_mean(values, segments, correction=correction)
    assert found.se is not None
    assert means[0] == pytest.approx(found.mean, rel=1e-12)
    assert covariance[0, 0] ** 0.5 == pytest.approx(found.se, rel=1e-9)
    if correction == "CR2":
        assert wishart_df(one, segments, np.ones((1, 1))) == pytest.approx(found.df, rel=1e-9)


@given(SEEDS)
def test_the_sandwich_by_loops(seed: int) -> None:
    rng = np.random.default_rng(seed)
    segments, cells = rng.integers(0, 6, 25), np.concatenate([[0, 1, 2], rng.integers(0, 3, 22)])
    values = rng.normal(size=25)
    _, covariance = robust_cell_means(values, cells, segments, correction="CR0")
    means = [values[cells == cell].mean() for cell in range(3)]
    right = np.zeros((3, 3))
    for segment in range(6):
        score = np.array(
            [
                sum(values[(cells == cell) & (segments == segment)] - means[cell]) / (cells == cell).sum()
                for cell in range(3)
            ]
        )
        right += np.outer(score, score)
    np.testing.assert_allclose(covariance, right, atol=1e-12)


def test_balanced_and_complete_cells_have_the_degrees_of_freedom_of_hotelling() -> None:
    segments, cells = np.repeat(np.arange(30), 6), np.tile(np.arange(6), 30)
    contrasts = np.linalg.qr(np.ones((6, 1)), mode="complete")[0][:, 1:].T
    assert wishart_df(cells, segments, contrasts) == pytest.approx(29.0)
    # There the test is Hotelling's T² for the means of 30 vectors.
    rng = np.random.default_rng(0)
    values = rng.normal(size=180) + rng.normal(size=30)[segments]
    found = interaction_wald(values, cells % 2, cells // 2, segments)
    additive = np.array([[1, -1, -1, 1, 0, 0], [0, 0, 1, -1, -1, 1]])
    vectors = values.reshape(30, 6) @ additive.T
    mean, spread = vectors.mean(axis=0), np.cov(vectors.T)
    t2 = 30 * mean @ np.linalg.solve(spread, mean)
    assert (found.df1, found.df2) == (2.0, pytest.approx(28.0))
    assert found.f == pytest.approx(t2 * 28 / (29 * 2), rel=1e-9)


def test_degrees_of_freedom_by_simulation() -> None:
    rng = np.random.default_rng(6)
    segments, cells = rng.integers(0, 15, 80), rng.integers(0, 4, 80)
    contrasts = np.array([[1.0, -1, 0, 0], [0, 1, -1, 0]])
    omega = contrasts / np.bincount(cells) @ contrasts.T
    root = np.linalg.inv(np.linalg.cholesky(omega)) @ contrasts
    draws = []
    for _ in range(4000):
        _, covariance = robust_cell_means(rng.normal(size=80), cells, segments)
        draws.append(root @ covariance @ root.T)
    # Unbiased under independence, and its elements vary as those of a Wishart matrix of so many df.
    np.testing.assert_allclose(np.mean(draws, axis=0), np.eye(2), atol=0.03)
    simulated = 2 * 3 / np.var(draws, axis=0).sum()
    assert simulated == pytest.approx(wishart_df(cells, segments, contrasts), rel=0.06)


def test_the_test_holds_its_level_where_cells_differ_in_variance() -> None:
    rng = np.random.default_rng(1)
    cells = np.tile(np.arange(6), 20)
    segments = np.repeat(np.arange(20), 6)
    spread = np.array([0.2, 1, 3, 1, 0.5, 2])[cells]
    rejected = 0
    for _ in range(400):
        values = spread * (rng.normal(size=120) + rng.normal(size=20)[segments])
        found = interaction_wald(values, cells % 2, cells // 2, segments)
        assert found.log10_p is not None
        rejected += found.log10_p < np.log10(0.05)
    assert rejected <= 35  # 5 % of 400 are 20; 35 are beyond 99.9 %


@given(SEEDS)
def test_names_and_order_do_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = 150
    columns = [rng.integers(0, size, rows) for size in (2, 3, 40)]
    values = rng.normal(size=rows)
    one = interaction_wald(values, *columns)
    order = rng.permutation(rows)
    other = interaction_wald(5.0 * values[order] + 1e4, *(rng.permutation(50)[c][order] for c in columns))
    assert (one.f is None) == (other.f is None) and one.reason == other.reason
    if one.f is not None:
        assert other.f == pytest.approx(one.f, rel=1e-6)
        assert other.df2 == pytest.approx(one.df2, rel=1e-9)


def test_what_is_not_tested_is_named() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=24)
    a, b = np.arange(24) % 2, np.arange(24) // 2 % 3
    zero = np.zeros(24, dtype=np.intp)
    reasons = {
        "levels": interaction_wald(values, a, zero, np.arange(24) // 6).reason,
        "one segment": interaction_wald(values, a, b, zero).reason,
        "constant": interaction_wald(np.ones(24), a, b, np.arange(24) // 6).reason,
        "few": interaction_wald(values, a, b, np.arange(24) // 12).reason,
    }
    assert "too few levels" in reasons["levels"]
    assert "one segment only" in reasons["one segment"]
    assert "do not vary" in reasons["constant"]
    assert "too few" in reasons["few"]
    _, covariance = robust_cell_means(values, a, zero, correction="CR1")
    assert np.isinf(covariance).all()
