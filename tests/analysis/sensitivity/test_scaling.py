"""Standardisation by hand calculation and by its invariants."""

from __future__ import annotations

import math

import numpy as np
import pytest

from analysis.sensitivity.scaling import Standardization, choose_scaling, pooled_within_sd
from challenge_sets import Kind

NEGATION = np.array([1.0, 2.0, 3.0])
FORMAT = np.array([10.0, 14.0])
CELLS: dict[tuple[Kind, str], np.ndarray] = {
    ("error", "negation"): NEGATION,
    ("variation", "name format"): FORMAT,
    ("control", "empty"): np.array([90.0, 10.0]),
}


def test_scale_pools_within_categories_and_does_not_centre() -> None:
    scaling = choose_scaling(Standardization.SCALE, CELLS)
    # Squares around the own mean: 2 and 8, with 2 + 1 degrees of freedom.
    assert scaling.within_sd == scaling.divisor == pytest.approx(math.sqrt(10 / 3))
    assert scaling.mean(0.0) == 0.0
    assert scaling.basis == ("error", "variation")


def test_zscore_centres_on_errors_and_variations() -> None:
    scaling = choose_scaling(Standardization.ZSCORE, CELLS)
    values = np.concatenate([NEGATION, FORMAT])
    standardised = [scaling.mean(value) for value in values]
    assert np.mean(standardised) == pytest.approx(0, abs=1e-12)
    assert np.std(standardised, ddof=1) == pytest.approx(1)


def test_raw_changes_nothing_and_knows_the_sd_for_the_margin() -> None:
    scaling = choose_scaling(Standardization.RAW, CELLS)
    assert (scaling.mean(3.0), scaling.spread(3.0)) == (3.0, 3.0)
    assert scaling.margin(0.2, None) == pytest.approx(0.2 * math.sqrt(10 / 3))
    assert scaling.margin(0.2, 1.5) == 1.5


@pytest.mark.parametrize("method", [Standardization.SCALE, Standardization.ZSCORE])
def test_controls_set_the_scale_only_where_nothing_else_varies(method: Standardization) -> None:
    controls = CELLS["control", "empty"]
    scaling = choose_scaling(method, {("error", "negation"): np.zeros(4), ("control", "empty"): controls})
    assert scaling.basis == ("control",)
    assert scaling.divisor == pytest.approx(np.std(controls, ddof=1))


@pytest.mark.parametrize("method", [Standardization.SCALE, Standardization.ZSCORE])
def test_without_variance_nothing_is_standardised(method: Standardization) -> None:
    scaling = choose_scaling(method, {("error", "negation"): np.full(4, 2.0)})
    assert (scaling.divisor, scaling.mean(2.0), scaling.spread(1.0)) == (None, None, None)


def test_single_pairs_and_rounding_are_no_variance() -> None:
    assert pooled_within_sd([np.array([1.0]), np.array([5.0])]) is None
    assert pooled_within_sd([np.array([0.0, 1e-17])], noise=1e-12) is None
    assert pooled_within_sd([]) is None
