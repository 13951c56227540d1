"""The mixed model and the robust errors against R's lme4, lmerTest and clubSandwich."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from analysis.mixed.design import cross_cells, effects, independent
from analysis.mixed.exact import fit_cells, fit_sums
from analysis.mixed.interaction import interaction_tests
from analysis.mixed.model import Engine, MixedOptions, fit_mixed_model, read_mixed_table
from analysis.mixed.robust import robust_cell_means
from analysis.mixed.statsmodels_engine import fit_statsmodels
from analysis.mixed.sufficient import cell_sums
from analysis.statistics.estimates import Correction

pytestmark = pytest.mark.data
Read = Callable[[str], Any]
TABLES = ["balanced", "unbalanced", "singular", "missing_cell"]
EXACT = {"rtol": 0, "atol": 1e-7}


@pytest.mark.parametrize("kind", ["reml", "ml"])
@pytest.mark.parametrize("name", TABLES)
def test_the_fit_is_lme4s(oracle: Read, name: str, kind: str) -> None:
    table = oracle(name)
    right = table.answer[kind]
    fit = fit_cells(table.values, table.cells, table.segments, reml=kind == "reml")
    assert fit.state == "ok" and fit.se is not None
    np.testing.assert_allclose(fit.beta, right["beta"], **EXACT)
    np.testing.assert_allclose(fit.se, right["se"], **EXACT)
    found = [fit.sigma2, fit.tau2, fit.log_likelihood]
    np.testing.assert_allclose(found, [right[key] for key in ("sigma2", "tau2", "logLik")], **EXACT)
    assert fit.boundary == right["singular"] == (fit.tau2 == 0.0)


@pytest.mark.parametrize("name", TABLES)
def test_the_additive_fit_is_lme4s(oracle: Read, name: str) -> None:
    table = oracle(name)
    cells = cross_cells([table.conditions, table.metrics])
    columns = independent(effects(cells.levels, (0,), (1,)))
    assert columns.shape == (len(table.answer["ml"]["cells"]), 6 + 5 - 1)
    sums = cell_sums(table.values, cells.codes, table.segments)
    fit = fit_sums(sums, reml=False, columns=columns)
    right = table.answer["ml_additive"]
    found = [fit.sigma2, fit.tau2, fit.log_likelihood]
    np.testing.assert_allclose(found, [right[key] for key in ("sigma2", "tau2", "logLik")], **EXACT)


@pytest.mark.parametrize("name", TABLES)
def test_degrees_of_freedom_are_lmertests(oracle: Read, name: str) -> None:
    table = oracle(name)
    fit = fit_cells(table.values, table.cells, table.segments)
    np.testing.assert_allclose(fit.df, table.answer["reml"]["df_satterthwaite"], rtol=1e-5)


@pytest.mark.parametrize("name", TABLES)
def test_the_interaction_is_lme4s(oracle: Read, name: str) -> None:
    table = oracle(name)
    right = table.answer["interaction"]
    found = interaction_tests(table.values, table.conditions, table.metrics, table.segments)
    assert found.lr is not None and found.wald is not None and found.reason == ""
    assert found.lr.chi2 == pytest.approx(right["LR_chi2"], abs=1e-3)
    assert found.lr.log10_p == pytest.approx(right["LR_log10p"], abs=1e-3)
    assert found.wald.chi2 == pytest.approx(right["Wald_chi2_REML"], rel=1e-6)
    assert (found.lr.df, found.wald.df) == (right["df"], right["Wald_df"])
    assert found.lr.df == (19 if name == "missing_cell" else 20)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_gives_lmertests_p_values(oracle: Read, name: str) -> None:
    path, right = oracle(name).path, oracle(name).answer["reml"]
    options = MixedOptions()
    model = fit_mixed_model(read_mixed_table(path, options), options)
    assert model.empty_cells == ((("wronglang", "m3"),) if name == "missing_cell" else ())
    assert model.n_segments == oracle(name).answer["source"].get("n_segments", model.n_segments)
    found = {f"{cell.metric}|{cell.condition}": cell for cell in model.cells}
    assert found.keys() == set(right["cells"])
    log10_p = [found[cell].log10_p for cell in right["cells"]]
    np.testing.assert_allclose(log10_p, np.log10(right["p_satterthwaite"]), rtol=1e-5)
    for cell in model.cells:
        assert cell.low is not None and cell.high is not None and cell.log10_p is not None
        assert (cell.low <= 0 <= cell.high) == (cell.log10_p > np.log10(0.05))


@pytest.mark.parametrize("correction", ["CR0", "CR1", "CR2"])
@pytest.mark.parametrize("name", TABLES)
def test_robust_errors_are_clubsandwichs(oracle: Read, name: str, correction: Correction) -> None:
    table = oracle(name)
    means, covariance = robust_cell_means(table.values, table.cells, table.segments, correction=correction)
    plain = np.bincount(table.cells, weights=table.values) / np.bincount(table.cells)
    np.testing.assert_allclose(means, plain, rtol=1e-12)
    errors = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(errors, table.answer["ols_cluster_se"][correction], rtol=0, atol=1e-10)


@pytest.mark.parametrize("reml", [True, False])
@pytest.mark.parametrize("name", TABLES)
def test_the_engines_agree(oracle: Read, name: str, reml: bool) -> None:
    table = oracle(name)
    exact = fit_cells(table.values, table.cells, table.segments, reml=reml)
    other = fit_statsmodels(table.values, table.cells, table.segments, reml=reml)
    assert other.se is not None and exact.se is not None and exact.tau2 is not None
    np.testing.assert_allclose(other.beta, exact.beta, rtol=0, atol=1e-5)
    np.testing.assert_allclose(other.se, exact.se, rtol=2e-3)
    assert other.boundary == exact.boundary == (name == "singular")
    assert other.sigma2 == pytest.approx(exact.sigma2, rel=1e-4)
    assert other.tau2 == pytest.approx(exact.tau2, rel=1e-3)
    assert other.log_likelihood == pytest.approx(exact.log_likelihood, abs=1e-5)


@pytest.mark.parametrize("name", ["unbalanced", "missing_cell"])
def test_the_engines_agree_on_the_interaction(oracle: Read, name: str) -> None:
    path = oracle(name).path
    tests = []
    for engine in Engine:
        options = MixedOptions(engine=engine)
        found = fit_mixed_model(read_mixed_table(path, options), options).interaction
        assert found.lr is not None and found.wald is not None
        tests.append((found.lr.chi2, found.wald.chi2, found.lr.df))
    assert tests[0] == pytest.approx(tests[1], rel=2e-3)
