"""The exact fit against dense algebra, under changes that must not matter, and where it cannot test."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.linalg import null_space
from scipy.stats import multivariate_normal

from analysis.mixed import sufficient
from analysis.mixed.exact import MixedFit, fit_cells, fit_sums
from analysis.mixed.statsmodels_engine import fit_statsmodels
from analysis.mixed.sufficient import cell_sums
from analysis.statistics.estimates import cluster_mean

Rows = tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]]
SEEDS = st.integers(0, 2**32 - 1)


def small(seed: int) -> Rows:
    """Values, cells, segments: few rows, anything but balanced."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 30))
    segments = rng.integers(0, rng.integers(2, 9), n)
    cells = np.unique(rng.integers(0, rng.integers(1, 4), n), return_inverse=True)[1]
    effect = rng.choice([0.0, 0.5, 3.0]) * rng.normal(size=9)
    return cells + effect[segments] + rng.normal(size=n), cells, segments


def plain(segments: int = 20, cells: int = 6, seed: int = 0, between: float = 1.0) -> Rows:
    """A balanced and complete table."""
    rng = np.random.default_rng(seed)
    segment, cell = np.repeat(np.arange(segments), cells), np.tile(np.arange(cells), segments)
    return between * rng.normal(size=segments)[segment] + rng.normal(size=segment.size), cell, segment


def dense_covariance(segments: NDArray[np.intp], sigma2: float, tau2: float) -> NDArray[np.float64]:
    return sigma2 * np.eye(segments.size) + tau2 * (segments[:, None] == segments[None, :])


def dense_log_likelihood(rows: Rows, sigma2: float, tau2: float, reml: bool) -> float:
    """The density of the data at the best fixed effects, or of their error contrasts."""
    values, cells, segments = rows
    design = np.eye(cells.max() + 1)[cells]
    covariance = dense_covariance(segments, sigma2, tau2)
    if reml:
        contrasts = null_space(design.T)
        density = multivariate_normal.logpdf(contrasts.T @ values, cov=contrasts.T @ covariance @ contrasts)
        # lme4's criterion leaves the scale of the contrasts to the design.
        return float(density - 0.5 * np.linalg.slogdet(design.T @ design)[1])
    inverse = np.linalg.inv(covariance)
    beta = np.linalg.solve(design.T @ inverse @ design, design.T @ inverse @ values)
    return float(multivariate_normal.logpdf(values, mean=design @ beta, cov=covariance))


@given(SEEDS, st.booleans())
def test_the_fit_is_that_of_dense_algebra(seed: int, reml: bool) -> None:
    rows = values, cells, segments = small(seed)
    fit = fit_cells(values, cells, segments, reml=reml)
    if fit.state != "ok":
        assert fit.se is None and np.isfinite(fit.beta).all()
        return
    assert fit.sigma2 is not None and fit.tau2 is not None and fit.covariance is not None
    design = np.eye(cells.max() + 1)[cells]
    inverse = np.linalg.inv(dense_covariance(segments, fit.sigma2, fit.tau2))
    covariance = np.linalg.inv(design.T @ inverse @ design)
    np.testing.assert_allclose(fit.covariance, covariance, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(fit.beta, covariance @ design.T @ inverse @ values, rtol=1e-8, atol=1e-8)
    best = dense_log_likelihood(rows, fit.sigma2, fit.tau2, reml)
    assert fit.log_likelihood == pytest.approx(best, abs=1e-7)


@given(SEEDS, st.booleans())
def test_no_other_variances_are_likelier(seed: int, reml: bool) -> None:
    rows = values, cells, segments = small(seed)
    fit = fit_cells(values, cells, segments, reml=reml)
    if fit.state != "ok":
        return
    assert fit.log_likelihood is not None
    design = np.eye(cells.max() + 1)[cells]
    for ratio in [0.0, *np.logspace(-4, 4, 50)]:
        inverse = np.linalg.inv(dense_covariance(segments, 1.0, ratio))
        beta = np.linalg.solve(design.T @ inverse @ design, design.T @ inverse @ values)
        left = values - design @ beta
        sigma2 = float(left @ inverse @ left) / (values.size - (design.shape[1] if reml else 0))
        other = dense_log_likelihood(rows, sigma2, ratio * sigma2, reml)
        assert other <= fit.log_likelihood + 1e-7


def assert_same(one: MixedFit, other: MixedFit, scale: float = 1.0, rtol: float = 1e-6) -> None:
    assert one.state == other.state
    np.testing.assert_allclose(other.beta, one.beta * scale, rtol=rtol, atol=1e-6 * scale)
    if one.state != "ok":
        return
    assert one.se is not None and other.se is not None and one.df is not None and other.df is not None
    assert one.sigma2 is not None and one.tau2 is not None
    np.testing.assert_allclose(other.se, one.se * scale, rtol=rtol)
    assert other.sigma2 == pytest.approx(one.sigma2 * scale**2, rel=rtol)
    assert other.tau2 == pytest.approx(one.tau2 * scale**2, rel=rtol, abs=1e-6 * one.sigma2 * scale**2)
    # The deviance is flat around a variance of almost 0, and df jump there.
    if one.tau2 > 1e-4 * one.sigma2 or (one.boundary and other.boundary):
        assert one.boundary == other.boundary
        np.testing.assert_allclose(other.df, one.df, rtol=1e-4)


@given(SEEDS)
def test_order_and_names_do_not_matter(seed: int) -> None:
    values, cells, segments = small(seed)
    order = np.random.default_rng(seed + 1).permutation(values.size)
    names = np.random.default_rng(seed + 2).permutation(100)
    one = fit_cells(values, cells, segments)
    assert_same(one, fit_cells(values[order], cells[order], names[segments[order]]))


@given(SEEDS, st.sampled_from([1e-9, 1e-3, 7.0, 1e6]))
def test_scaled_values_scale_the_fit(seed: int, scale: float) -> None:
    values, cells, segments = small(seed)
    one, other = (fit_cells(factor * values, cells, segments) for factor in (1.0, scale))
    assert_same(one, other, scale)
    if one.log_likelihood is not None and other.log_likelihood is not None:
        shift = (values.size - one.rank) * np.log(scale)
        assert other.log_likelihood == pytest.approx(one.log_likelihood - shift, abs=1e-6)


@pytest.mark.parametrize("offset", [1e8, -1e8])
def test_a_huge_offset_costs_only_its_own_digits(offset: float) -> None:
    values, cells, segments = plain()
    one, other = (fit_cells(values + shift, cells, segments) for shift in (0.0, offset))
    assert one.se is not None and other.se is not None
    np.testing.assert_allclose(other.beta - offset, one.beta, atol=1e-7)
    np.testing.assert_allclose(other.se, one.se, rtol=1e-7)
    # Cells that lie far apart: their differences must not drown the residuals.
    apart = fit_cells(values + offset * cells, cells, segments)
    assert apart.sigma2 == pytest.approx(one.sigma2, rel=1e-6)
    assert apart.tau2 == pytest.approx(one.tau2, rel=1e-6)


@pytest.mark.parametrize("reml", [True, False])
def test_any_level_as_reference_gives_the_same_cells(reml: bool) -> None:
    values, cells, segments = small(12)
    sums = cell_sums(values, cells, segments)
    means = fit_sums(sums, reml=reml)
    assert means.se is not None and means.df is not None and means.covariance is not None
    for reference in range(sums.counts.size):
        columns = np.eye(sums.counts.size)
        columns[:, reference] = 1.0
        fit = fit_sums(sums, reml=reml, columns=columns)
        assert fit.se is not None and fit.df is not None
        assert fit.beta[reference] == pytest.approx(means.beta[reference], rel=1e-9)
        assert fit.se[reference] == pytest.approx(means.se[reference], rel=1e-9)
        assert fit.df[reference] == pytest.approx(means.df[reference], rel=1e-6)
        for other in set(range(sums.counts.size)) - {reference}:
            contrast = np.zeros(sums.counts.size)
            contrast[[other, reference]] = 1.0, -1.0
            assert fit.beta[other] == pytest.approx(contrast @ means.beta, rel=1e-8)
            assert fit.se[other] ** 2 == pytest.approx(contrast @ means.covariance @ contrast, rel=1e-8)
        assert fit.tau2 == pytest.approx(means.tau2, rel=1e-8)


def test_balanced_cells_have_the_anova_answer() -> None:
    values, cells, segments = plain(30, 4, seed=3)
    table = values.reshape(30, 4)
    left = table - table.mean(axis=0)
    between = 4 * float((left.mean(axis=1) ** 2).sum()) / 29
    within = float(((left - left.mean(axis=1, keepdims=True)) ** 2).sum()) / (29 * 3)
    fit = fit_cells(values, cells, segments)
    assert fit.sigma2 == pytest.approx(within, rel=1e-9)
    assert fit.tau2 == pytest.approx((between - within) / 4, rel=1e-9)
    # Satterthwaite 1946: a mean square between (29 df) and one within (87 df), weighted 1 and 3.
    total = between + 3 * within
    assert fit.df is not None
    assert fit.df[0] == pytest.approx(total**2 / (between**2 / 29 + (3 * within) ** 2 / 87), rel=1e-7)


def test_one_cell_of_equal_segments_is_a_mean_of_means() -> None:
    values, _, segments = plain(12, 5, seed=4)
    fit = fit_cells(values, np.zeros(values.size, dtype=np.intp), segments)
    clustered = cluster_mean(values, segments)
    assert fit.se is not None and fit.df is not None and clustered.se is not None
    assert fit.se[0] == pytest.approx(clustered.se, rel=1e-9)
    assert fit.df[0] == pytest.approx(11.0, rel=1e-6)


@pytest.mark.parametrize("reml", [True, False])
def test_no_two_rows_of_a_segment_is_least_squares(reml: bool) -> None:
    values, cells, _ = plain()
    for fitter in (fit_cells, fit_statsmodels):
        fit = fitter(values, cells, np.arange(values.size), reml=reml)
        assert fit.boundary and fit.tau2 == 0.0 and fit.covariance is not None
        design = np.eye(6)[cells]
        left = values - design @ fit.beta
        sigma2 = float(left @ left) / (values.size - (6 if reml else 0))
        assert fit.sigma2 == pytest.approx(sigma2, rel=1e-6)
        np.testing.assert_allclose(fit.covariance, sigma2 * np.eye(6) / 20, rtol=1e-6, atol=1e-12)


@pytest.mark.data
@pytest.mark.parametrize("seed", range(8))
def test_the_boundary_case(cases: Path, seed: int) -> None:
    case = json.loads((cases / "statistics" / "boundary.json").read_text("utf-8"))
    groups, size = case["groups"], case["per_group"]
    segments = np.repeat(np.arange(groups), size)
    cells = segments % 2
    values = 0.8 + 0.5 * cells + np.random.default_rng(seed).normal(size=segments.size)
    fit = fit_cells(values, cells, segments)
    means = [values[cells == cell].mean() for cell in (0, 1)]
    np.testing.assert_allclose(fit.beta, means, atol=1e-9)
    # Balanced: the variance is 0 exactly where segments' means differ no more than their rows let expect.
    table = values.reshape(groups, size)
    left = table.mean(axis=1) - np.array(means)[np.arange(groups) % 2]
    between = size * float((left**2).sum()) / (groups - 2)
    within = float(table.var(axis=1, ddof=1).mean())
    assert fit.boundary == (between <= within)
    other = fit_statsmodels(values, cells, segments)
    np.testing.assert_allclose(other.beta, means, atol=1e-3)
    assert other.boundary == fit.boundary


def test_all_variation_between_segments_is_named() -> None:
    _, cells, segments = plain()
    effect = np.random.default_rng(1).normal(size=20)
    for values in (effect[segments], effect[segments] + cells):
        for fitter in (fit_cells, fit_statsmodels):
            assert fitter(values, cells, segments).state == "degenerate"
    # One difference within each segment, and as many differences of cells to explain them.
    segments_of_two = np.array([0, 0, 1, 1, 2, 2])
    fit = fit_cells(np.array([9.0, 11, -5, -3, 20, 24]), np.array([0, 1, 0, 2, 0, 3]), segments_of_two)
    assert fit.state == "degenerate"
    # A thousandth of the size is still a residual.
    fit = fit_cells(effect[segments] + 1e-3 * plain(between=0.0)[0], cells, segments)
    assert fit.tau2 == pytest.approx(effect.var(ddof=1), rel=1e-2)
    assert fit.df is not None and fit.df[0] == pytest.approx(19.0, abs=0.01)


@pytest.mark.parametrize(
    ("values", "cells", "segments", "state"),
    [
        ([1.0], [0], [0], "too few"),
        ([1.0, 2.0], [0, 1], [0, 1], "too few"),
        ([1.0, 2.0, 3.0, 5.0], [0, 0, 1, 1], [0, 0, 0, 0], "too few"),  # one segment
        ([1.0, 2.0, 3.0, 5.0], [0, 0, 1, 1], [0, 0, 1, 1], "too few"),  # a segment a cell
        ([2.0, 2.0, 3.0, 3.0], [0, 0, 1, 1], [0, 1, 0, 1], "degenerate"),
        ([0.0, 0.0, 0.0, 0.0], [0, 0, 1, 1], [0, 1, 0, 1], "degenerate"),
        ([0.1, 0.1, 0.1, 0.1, 0.1], [0, 0, 1, 1, 1], [0, 1, 0, 1, 2], "degenerate"),
    ],
)
@pytest.mark.parametrize("reml", [True, False])
def test_what_cannot_be_tested_is_named(
    values: list[float], cells: list[int], segments: list[int], state: str, reml: bool
) -> None:
    for fitter in (fit_cells, fit_statsmodels):
        fit = fitter(np.array(values), np.array(cells), np.array(segments), reml=reml)
        assert fit.state == state
        means = [np.mean([v for v, c in zip(values, cells, strict=True) if c == cell]) for cell in set(cells)]
        np.testing.assert_allclose(fit.beta, means, rtol=1e-12)
        assert (fit.se, fit.df, fit.tau2, fit.log_likelihood, fit.boundary) == (None, None, None, None, False)


@given(SEEDS)
def test_few_rows_never_give_a_number_that_is_none(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    segments = rng.integers(0, rng.integers(1, 5), n)
    cells = np.unique(rng.integers(0, rng.integers(1, 4), n), return_inverse=True)[1]
    for reml in (True, False):
        fit = fit_cells(rng.choice([0.0, 1.0, 2.0], n), cells, segments, reml=reml)
        if fit.state == "ok":
            assert fit.se is not None and fit.df is not None
            assert (fit.se > 0).all() and (fit.df > 0).all() and np.isfinite([*fit.se, *fit.df]).all()


def test_many_sizes_are_fitted_without_keeping_their_products(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    segments = np.repeat(np.arange(40), np.arange(1, 41))
    cells = rng.integers(0, 12, segments.size)
    values = rng.normal(size=40)[segments] + rng.normal(size=segments.size)
    kept = cell_sums(values, cells, segments)
    monkeypatch.setattr(sufficient, "_STACK_LIMIT", 40 * 12 * 12 - 1)
    monkeypatch.setattr(sufficient, "_CHUNK", 7)
    anew = cell_sums(values, cells, segments)
    assert kept.rows.stack is not None and anew.rows.stack is None
    assert_same(fit_sums(kept), fit_sums(anew), rtol=1e-10)


def test_a_few_huge_segments_beside_many_small_ones() -> None:
    rng = np.random.default_rng(2)
    segments = np.concatenate([np.repeat([0, 1], 2000), np.arange(2, 300)])
    cells = rng.integers(0, 5, segments.size)
    values = rng.normal(size=300)[segments] + rng.normal(size=segments.size)
    fit, other = (fitter(values, cells, segments) for fitter in (fit_cells, fit_statsmodels))
    assert fit.se is not None and other.se is not None
    np.testing.assert_allclose(other.beta, fit.beta, atol=1e-5)
    np.testing.assert_allclose(other.se, fit.se, rtol=2e-3)


def test_cells_without_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="no row"):
        cell_sums(np.ones(3), np.array([0, 2, 2]), np.array([0, 1, 2]))
