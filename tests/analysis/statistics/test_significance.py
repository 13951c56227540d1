"""Tail probabilities, Holm and the printing of p-values against closed forms and statsmodels."""

from __future__ import annotations

import math
from decimal import Decimal, getcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from analysis.statistics.significance import holm, log10_p_two_sided, log10_t_sf, p_text, stars


def exact_log10_sf(t: int, df: int) -> float:
    """P(T > t) for even ``df`` by its finite series (Abramowitz and Stegun 26.7.4), in long decimals."""
    getcontext().prec = 2500
    tt, n = Decimal(t) ** 2, Decimal(df)
    cos2, sine = n / (n + tt), (tt / (n + tt)).sqrt()
    term = total = Decimal(1)
    for k in range(1, df // 2):
        term *= cos2 * (2 * k - 1) / (2 * k)
        total += term
    return float(((1 - sine * total) / 2).log10())


@pytest.mark.parametrize(("t", "df"), [(5, 2), (40, 30), (100, 300), (1000, 300), (60, 1200), (3, 8)])
def test_tail_equals_the_finite_series(t: int, df: int) -> None:
    assert log10_t_sf(t, df) == pytest.approx(exact_log10_sf(t, df), rel=1e-12)


@pytest.mark.parametrize("t", [3.0, 1e3, 1e9, 1e80, 1e200])
def test_tail_of_cauchy(t: float) -> None:
    assert log10_t_sf(t, 1) == pytest.approx(math.log10(math.atan(1 / t) / math.pi), rel=1e-12)


@pytest.mark.parametrize("df", [3, 30, 1e3, 1e6])
def test_tail_continues_scipy_without_a_step(df: float) -> None:
    """Just before and after the place where the computation changes, the slope stays what it was."""
    edge = next(t for t in np.geomspace(2, 1e120, 20000) if stats.t.logsf(t, df) < -600)
    values = [log10_t_sf(edge * (1 + step), df) for step in (-2e-3, -1e-3, 1e-3, 2e-3)]
    slopes = np.diff(values) / np.array([1e-3, 2e-3, 1e-3])
    assert np.ptp(slopes) < 0.02 * abs(slopes.mean())


@pytest.mark.parametrize("t", [50.0, 1e4, -1e4, 1e150, -1e150, 0.0])
@pytest.mark.parametrize("df", [1, 7, 500, 100_000])
def test_never_infinite(t: float, df: float) -> None:
    assert -math.inf < log10_t_sf(t, df) <= 0
    assert -math.inf < log10_p_two_sided(t, df) <= 0


def test_two_sided_p_at_zero_is_one() -> None:
    assert log10_p_two_sided(0.0, 5) == 0.0


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(1e-12, 1), min_size=1, max_size=30))
def test_holm_equals_statsmodels(p: list[float]) -> None:
    ours = [10**value for value in holm([math.log10(value) for value in p]) if value is not None]
    np.testing.assert_allclose(ours, multipletests(p, method="holm")[1], rtol=1e-9)


def test_holm_keeps_underflowing_values_apart_and_leaves_untested_ones_out() -> None:
    assert holm([-400.0, None, -900.0]) == [-400.0, None, pytest.approx(-900 + math.log10(2))]


@pytest.mark.parametrize(
    ("log10_p", "text"),
    [
        (-1e6, "<1e-300"),
        (-300.5, "<1e-300"),
        (math.log10(4.2e-17), "4.2e-17"),
        (math.log10(9.99e-5), "1.0e-4"),
        (math.log10(0.034), "0.034"),
        (0.0, "1.000"),
    ],
)
def test_p_text(log10_p: float, text: str) -> None:
    assert p_text(log10_p) == text


@given(st.floats(-1e9, 0))
def test_p_is_never_printed_as_zero(log10_p: float) -> None:
    assert float(p_text(log10_p).lstrip("<")) > 0


@pytest.mark.parametrize(("p", "expected"), [(0.2, ""), (0.04, "*"), (0.009, "**"), (1e-9, "***")])
def test_stars(p: float, expected: str) -> None:
    assert stars(math.log10(p)) == expected
    assert stars(None) == ""
