"""Bootstrap counts, percentile intervals and permutation p-values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.statistics.resampling import percentile_interval, permutation_p, resample_counts


def test_every_resample_draws_as_many_clusters_as_there_are() -> None:
    counts = resample_counts(23, 500, np.random.default_rng(0))
    assert counts.shape == (500, 23)
    assert (counts >= 0).all() and (counts.sum(axis=1) == 23).all()


def test_counts_are_those_of_drawing_with_replacement() -> None:
    """A cluster is left out with probability (1 - 1/n)^n; its count has mean 1 and variance 1 - 1/n."""
    n, draws = 8, 20_000
    counts = resample_counts(n, draws, np.random.default_rng(1))
    assert (counts == 0).mean() == pytest.approx((1 - 1 / n) ** n, abs=0.005)
    assert counts.mean() == 1.0
    assert counts.var(axis=0) == pytest.approx(1 - 1 / n, abs=0.04)
    # Two clusters compete for the draws: their counts have the covariance -1/n.
    assert np.cov(counts[:, 0], counts[:, 1])[0, 1] == pytest.approx(-1 / n, abs=0.03)


def test_one_cluster_and_the_same_seed() -> None:
    assert (resample_counts(1, 5, np.random.default_rng(0)) == 1).all()
    first, second = (resample_counts(7, 50, np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_bootstrap_standard_error_of_a_mean() -> None:
    """The bootstrap variance of a mean is the population variance over n, exactly in expectation."""
    values = np.random.default_rng(5).normal(size=40)
    means = resample_counts(40, 20_000, np.random.default_rng(6)) @ values / 40
    assert means.std() == pytest.approx(values.std() / math.sqrt(40), rel=0.03)


def test_percentile_interval() -> None:
    values = np.arange(101.0)
    assert percentile_interval(values, 0.9) == (pytest.approx(5.0), pytest.approx(95.0))
    with_missing = np.concatenate([values, [np.nan] * 50])
    assert percentile_interval(with_missing, 0.9) == percentile_interval(values, 0.9)
    assert percentile_interval(np.array([1.0, np.nan]), 0.95) is None
    assert percentile_interval(np.array([]), 0.95) is None


@given(
    values=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30),
    level=st.floats(0.01, 0.99),
    factor=st.floats(0.1, 10),
)
def test_an_interval_moves_with_the_unit_and_not_with_the_order(values, level, factor) -> None:
    interval = percentile_interval(np.array(values), level)
    assert interval is not None
    low, high = interval
    assert min(values) <= low <= high <= max(values)
    scaled = percentile_interval(np.array(values[::-1]) * factor, level)
    assert scaled == pytest.approx((low * factor, high * factor), abs=1e-6)


def test_permutation_p_is_never_zero() -> None:
    assert permutation_p(0, 999) == 0.001
    assert permutation_p(999, 999) == 1.0
    assert permutation_p(49, 999) == 0.05
    for wrong in ((-1, 10), (11, 10), (0, 0)):
        with pytest.raises(ValueError, match="permutations"):
            permutation_p(*wrong)
