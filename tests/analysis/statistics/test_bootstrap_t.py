"""The bootstrap-t: against a loop over the same draws, its states, and its behaviour under repetition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.statistics.bootstrap_t import bootstrap_t
from analysis.statistics.estimates import cluster_mean


def test_it_equals_a_loop_over_resampled_clusters() -> None:
    rng = np.random.default_rng(3)
    clusters = rng.integers(0, 12, 40)
    values = rng.normal(0.3, 1.0, 40) + 0.5 * clusters % 3
    found = bootstrap_t(values, clusters, rng=np.random.default_rng(5), resamples=200)
    assert found is not None
    # The draws are over clusters in the order of their sums.
    names = np.array(sorted(set(clusters), key=lambda c: (values[clusters == c] - values.mean()).sum()))
    counts = np.random.default_rng(5).multinomial(12, np.full(12, 1 / 12), size=200)
    observed = cluster_mean(values, clusters, correction="CR1")
    assert (found.mean, found.se) == pytest.approx((observed.mean, observed.se))
    expected = []
    for row in counts:
        drawn, labels = [], []
        for place, times in enumerate(row):
            for copy in range(times):
                own = values[clusters == names[place]]
                drawn += list(own)
                labels += [(place, copy)] * own.size
        resample = cluster_mean(drawn, labels, correction="CR1")
        assert resample.mean is not None and resample.se is not None
        expected.append((resample.mean - values.mean()) / resample.se)
    np.testing.assert_allclose(found.statistics, sorted(expected), rtol=1e-9)
    t = observed.mean / observed.se  # type: ignore[operator]
    at_least = sum(abs(value) >= abs(t) for value in expected)
    assert 10 ** found.log10_p() == pytest.approx((at_least + 1) / 201)
    low = sum(value >= (values.mean() + 1) / observed.se for value in expected)
    high = sum(value <= (values.mean() - 1) / observed.se for value in expected)
    assert 10 ** found.log10_p_within(-1, 1) == pytest.approx((max(low, high) + 1) / 201)


@pytest.mark.parametrize(
    ("values", "clusters"),
    [([1.0, 2.0], [0, 0]), ([0.0, 0.0, 0.0], [0, 1, 2]), ([1.0, -1.0] * 2, [0, 0, 1, 1])],
)
def test_there_is_none_without_variance_between_clusters(values: list[float], clusters: list[int]) -> None:
    assert bootstrap_t(np.array(values), clusters, rng=np.random.default_rng(0)) is None


def test_resamples_without_variance_count_as_extreme() -> None:
    """One reaction among many zeros: most that is left out of a resample leaves nothing to divide by."""
    values = np.zeros(30)
    values[4] = 5.0
    found = bootstrap_t(values, np.arange(30), rng=np.random.default_rng(1))
    assert found is not None
    assert np.isinf(found.statistics).mean() == pytest.approx((1 - 1 / 30) ** 30, abs=0.02)
    assert found.log10_p() > math.log10(0.3)


@given(st.floats(1e-3, 1e6), st.integers(0, 100))
def test_the_unit_changes_nothing(factor: float, seed: int) -> None:
    values = np.random.default_rng(seed).normal(0.2, 1.0, 15)
    one, other = (
        bootstrap_t(scaled, np.arange(15), rng=np.random.default_rng(2), resamples=99)
        for scaled in (values, values * factor)
    )
    assert one is not None and other is not None
    np.testing.assert_allclose(one.statistics, other.statistics, rtol=1e-6)
