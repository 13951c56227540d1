from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from analysis.statistics.estimates import cluster_mean
from analysis.statistics.multiway import multiway_mean
from analysis.statistics.two_way import two_way_mean


def simulated(seed: int = 4) -> tuple[NDArray[np.float64], list[list[int]]]:
    rng = np.random.default_rng(seed)
    n = 400
    factors = [rng.integers(0, levels, n) for levels in (25, 7, 9)]
    values = 0.3 + rng.normal(size=n) + sum(rng.normal(size=30)[factor] for factor in factors)
    return values, [factor.tolist() for factor in factors]


def test_two_factors_as_in_statsmodels() -> None:
    from statsmodels.api import OLS

    values, factors = simulated()
    groups = np.array(factors[:2]).T
    fit = OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": groups})
    found = multiway_mean(values, factors[:2])
    assert found.se == pytest.approx(float(fit.bse[0]), rel=1e-10)
    assert (found.df, found.clusters, found.state) == (6.0, 7, "ok")
    assert found.mean == pytest.approx(values.mean())
    ours = two_way_mean(values, factors[0], factors[1])
    assert (found.mean, found.se, found.df) == (ours.mean, pytest.approx(ours.se), ours.df)


def test_three_factors_by_the_formula() -> None:
    values, factors = simulated()
    residuals = values - values.mean()
    variance = 0.0
    for size in (1, 2, 3):
        for chosen in combinations(factors, size):
            sums: dict[tuple[int, ...], float] = {}
            for key, residual in zip(zip(*chosen, strict=True), residuals, strict=True):
                sums[key] = sums.get(key, 0.0) + residual
            one = sum(total**2 for total in sums.values()) * len(sums) / (len(sums) - 1) / len(values) ** 2
            variance += one if size % 2 else -one
    assert multiway_mean(values, factors).se == pytest.approx(math.sqrt(variance), rel=1e-10)


def test_one_factor_is_the_one_way_answer_and_a_factor_of_one_level_says_nothing() -> None:
    values, factors = simulated()
    alone = multiway_mean(values, factors[:1])
    plain = cluster_mean(values, factors[0], correction="CR1")
    assert (alone.n, alone.df, alone.clusters, alone.state) == (plain.n, plain.df, plain.clusters, "ok")
    assert (alone.mean, alone.se) == pytest.approx((plain.mean, plain.se))
    assert multiway_mean(values, [factors[0], [0] * len(values)]) == alone
    # A factor given twice changes nothing.
    assert multiway_mean(values, [factors[0], factors[0]]).se == pytest.approx(alone.se)


def test_with_two_factors_it_is_the_two_way_mean() -> None:
    for seed in range(20):
        values, factors = simulated(seed)
        values = np.random.default_rng(seed).normal(size=len(values))
        found, other = multiway_mean(values, factors[:2]), two_way_mean(values, *factors[:2])
        assert (found.mean, found.se, found.df) == pytest.approx((other.mean, other.se, other.df))


def test_weights_are_repetitions_within_every_cluster() -> None:
    values, factors = simulated()
    weights = np.random.default_rng(1).integers(1, 4, len(values))
    repeated = [np.repeat(factor, weights).tolist() for factor in factors]
    whole = multiway_mean(np.repeat(values, weights), repeated)
    found = multiway_mean(values, factors, weights.astype(float))
    assert (found.mean, found.df) == (pytest.approx(whole.mean), whole.df)
    assert found.se == pytest.approx(whole.se)


def test_named_states() -> None:
    assert multiway_mean(np.array([]), [[], []]).state == "no data"
    assert multiway_mean(np.array([1.0, 2.0]), [["d", "d"], ["a", "b"]]).state == "too few"
    assert multiway_mean(np.array([1.0, 1.0]), [["d", "e"], ["a", "b"]]).state == "degenerate"
