"""Tests of interactions: degrees of freedom, another implementation's statistic, what is not tested."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from statsmodels.regression.mixed_linear_model import MixedLM

from analysis.mixed.interaction import factor_tests, interaction_tests


def table(seed: int = 0, *, rows: int = 400, shape: tuple[int, int, int] = (3, 4, 2)) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    names = ("condition", "metric", "factor")
    columns = {name: rng.integers(0, size, rows) for name, size in zip(names, shape, strict=True)}
    segment = rng.integers(0, 40, rows)
    delta = rng.normal(size=40)[segment] + rng.normal(size=rows) + 0.3 * columns["metric"] * columns["factor"]
    return pd.DataFrame(columns | {"segment": segment, "delta": delta})


def arrays(frame: pd.DataFrame, *names: str) -> list[NDArray[np.intp]]:
    return [frame[name].to_numpy() for name in names]


def test_the_factor_by_another_implementation() -> None:
    frame = table()
    found = factor_tests(
        frame["delta"].to_numpy(), *arrays(frame, "condition", "metric", "factor", "segment")
    )
    assert found.lr is not None and found.wald is not None
    assert (found.lr.df, found.wald.df) == (3, 3)  # (4 - 1)(2 - 1)
    likelihoods = []
    for formula in (
        "delta ~ C(condition) * C(metric) + C(factor)",
        "delta ~ C(condition) * C(metric) + C(metric) * C(factor)",
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = MixedLM.from_formula(formula, frame, groups="segment")
            likelihoods.append(model.fit(reml=False, method="powell").llf)
            wald = model.fit(reml=True, method="powell").wald_test_terms(scalar=True).table
    assert found.lr.chi2 == pytest.approx(2 * (likelihoods[1] - likelihoods[0]), abs=1e-4)
    assert found.wald.chi2 == pytest.approx(wald.loc["C(metric):C(factor)", "statistic"], rel=2e-3)


@pytest.mark.parametrize("shape", [(2, 2, 2), (3, 5, 3), (1, 3, 4)])
def test_degrees_of_freedom_of_full_tables(shape: tuple[int, int, int]) -> None:
    frame = table(1, rows=1000, shape=shape)
    factor = factor_tests(
        frame["delta"].to_numpy(), *arrays(frame, "condition", "metric", "factor", "segment")
    )
    assert factor.lr is not None and factor.lr.df == (shape[1] - 1) * (shape[2] - 1)
    plain = interaction_tests(frame["delta"].to_numpy(), *arrays(frame, "condition", "metric", "segment"))
    if shape[0] > 1:
        assert plain.lr is not None and plain.lr.df == (shape[0] - 1) * (shape[1] - 1)
    else:
        assert plain.lr is None and "no effect is left" in plain.reason


@given(st.integers(0, 2**32 - 1))
def test_names_order_and_scale_do_not_matter(seed: int) -> None:
    frame = table(seed, rows=120)
    rng = np.random.default_rng(seed)
    names = ("condition", "metric", "segment")
    one = interaction_tests(frame["delta"].to_numpy(), *arrays(frame, *names))
    order = rng.permutation(len(frame))
    renamed = [rng.permutation(50)[column][order] for column in arrays(frame, *names)]
    other = interaction_tests(100.0 * frame["delta"].to_numpy()[order] + 1e4, *renamed)
    assert one.lr is not None and other.lr is not None and one.wald is not None and other.wald is not None
    assert other.lr.df == one.lr.df
    assert other.lr.chi2 == pytest.approx(one.lr.chi2, rel=1e-6, abs=1e-6)
    assert other.wald.chi2 == pytest.approx(one.wald.chi2, rel=1e-6)


def test_an_empty_cell_takes_a_degree_of_freedom() -> None:
    frame = table()
    frame = frame[(frame["condition"] != 1) | (frame["metric"] != 2)]
    found = interaction_tests(frame["delta"].to_numpy(), *arrays(frame, "condition", "metric", "segment"))
    assert found.lr is not None and found.lr.df == 2 * 3 - 1


def test_no_interaction_and_no_variance_are_named() -> None:
    frame = table()
    names = ("condition", "metric", "segment")
    nothing = np.zeros(len(frame))
    found = interaction_tests(nothing, *arrays(frame, *names))
    assert (found.lr, found.wald, found.reason) == (None, None, "no variance is left to test with")
    one = [column[:6] for column in arrays(frame, *names)]
    found = interaction_tests(frame["delta"].to_numpy()[:6], one[0], one[1], np.zeros(6, dtype=np.intp))
    assert found.lr is None and "too few" in found.reason


def test_a_strong_interaction_has_no_p_of_zero() -> None:
    frame = table()
    delta = frame["delta"].to_numpy() + 1e6 * frame["condition"].to_numpy() * frame["metric"].to_numpy()
    found = interaction_tests(delta, *arrays(frame, "condition", "metric", "segment"))
    assert found.lr is not None and found.wald is not None
    assert -1e5 < found.lr.log10_p < -300 and np.isfinite(found.wald.log10_p) and found.wald.log10_p < -300
