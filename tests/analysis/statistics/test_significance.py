"""Tail probabilities, corrections and the printing of p-values against closed forms and statsmodels."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, getcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from analysis.statistics.significance import (
    benjamini_hochberg,
    holm,
    log10_chi2_sf,
    log10_f_sf,
    log10_p_two_sided,
    log10_t_sf,
    p_text,
    stars,
)


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


def exact_log10_chi2_sf(chi2: str, df: int) -> float:
    """P(X > chi2) for even ``df``: a Poisson sum (Abramowitz and Stegun 26.4.21), in long decimals."""
    getcontext().prec = 60
    half = Decimal(chi2) / 2
    term = total = Decimal(1)
    for k in range(1, df // 2):
        term *= half / k
        total += term
    return float(total.log10() - half / Decimal(10).ln())


@pytest.mark.parametrize(
    ("chi2", "df"),
    [("0.5", 2), ("57.94", 12), ("1250", 2), ("5677.9", 120), ("1e6", 10), ("3000", 1200), ("2e5", 12000)],
)
def test_chi_square_tail_equals_the_poisson_sum(chi2: str, df: int) -> None:
    assert log10_chi2_sf(float(chi2), df) == pytest.approx(exact_log10_chi2_sf(chi2, df), rel=1e-11)


def test_published_chi_squares() -> None:
    assert log10_chi2_sf(5677.9, 120) == pytest.approx(-1109.3, abs=0.05)
    assert 10 ** log10_chi2_sf(57.94, 12) == pytest.approx(5e-8, rel=0.1)


@pytest.mark.parametrize("chi2", [0.0, 1e-9, 3.84, 90.0, 1300.0, 1e4, 1e8])
def test_chi_square_with_one_degree_is_a_squared_normal(chi2: float) -> None:
    right = (math.log(2) + stats.norm.logsf(math.sqrt(chi2))) / math.log(10)
    assert log10_chi2_sf(chi2, 1) == pytest.approx(min(0.0, right), rel=1e-11, abs=1e-12)


def exact_log10_f_sf(f: int, df1: int, df2: int) -> float:
    """P(F > f) for even ``df1`` by its finite series (Abramowitz and Stegun 26.6.4), in long decimals."""
    getcontext().prec = 80
    x = Decimal(df2) / (Decimal(df2) + Decimal(df1) * f)
    a = Decimal(df2) / 2
    term = total = Decimal(1)
    for k in range(1, df1 // 2):
        term *= (a + k - 1) / k * (1 - x)
        total += term
    return float(a * x.log10() + total.log10())


@pytest.mark.parametrize(
    ("f", "df1", "df2"),
    [
        (1, 2, 10),
        (3, 12, 317),
        (40, 12, 317),
        (60, 120, 317),
        (500, 120, 17),
        (9, 4, 10_001),
        (10**9, 24, 900),
    ],
)
def test_f_tail_equals_the_finite_series(f: int, df1: int, df2: int) -> None:
    assert log10_f_sf(f, df1, df2) == pytest.approx(exact_log10_f_sf(f, df1, df2), rel=1e-11)


@pytest.mark.parametrize("t", [0.3, 4.0, 60.0, 1e4, 1e20])
@pytest.mark.parametrize("df", [1, 7, 300, 50_000])
def test_f_with_one_degree_is_a_squared_t(t: float, df: int) -> None:
    assert log10_f_sf(t * t, 1, df) == pytest.approx(log10_p_two_sided(t, df), rel=1e-10)


@pytest.mark.parametrize("df", [1, 2.5, 12, 120, 5000])
def test_upper_tails_are_finite_and_fall(df: float) -> None:
    points = np.geomspace(1e-3, 1e100, 400)
    for values in (
        [log10_chi2_sf(x, df) for x in points],
        [log10_f_sf(x, df, 7.5) for x in points],
        [log10_f_sf(x, 3, df) for x in points],
    ):
        assert all(-math.inf < value <= 0 for value in values)
        assert (np.diff(values) <= 0).all()


@pytest.mark.parametrize("tail", [log10_chi2_sf, lambda f, df: log10_f_sf(f, df, 9)])
def test_nothing_above_zero_is_certain(tail: Callable[[float, float], float]) -> None:
    assert tail(0.0, 3) == 0.0


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(1e-12, 1), min_size=1, max_size=30))
def test_benjamini_hochberg_equals_statsmodels(p: list[float]) -> None:
    adjusted = benjamini_hochberg([math.log10(value) for value in p])
    ours = [10**value for value in adjusted if value is not None]
    np.testing.assert_allclose(ours, multipletests(p, method="fdr_bh")[1], rtol=1e-9)


@pytest.mark.parametrize("correct", [holm, benjamini_hochberg])
@given(st.lists(st.one_of(st.none(), st.floats(-2000, 0)), max_size=20), st.randoms(use_true_random=False))
def test_corrections_follow_the_order_and_leave_untested_ones_out(
    correct: Callable[[list[float | None]], list[float | None]],
    family: list[float | None],
    random: Any,
) -> None:
    adjusted = correct(family)
    assert [value is None for value in adjusted] == [value is None for value in family]
    assert all(
        new is None or old is None or old <= new <= 0 for old, new in zip(family, adjusted, strict=True)
    )
    places = list(range(len(family)))
    random.shuffle(places)
    assert correct([family[place] for place in places]) == [adjusted[place] for place in places]
    assert [value for value in adjusted if value is not None] == correct(
        [value for value in family if value is not None]
    )


def test_benjamini_hochberg_keeps_underflowing_values_apart() -> None:
    assert benjamini_hochberg([-400.0, None, -900.0]) == [
        -400.0,
        None,
        pytest.approx(-900 + math.log10(2)),
    ]


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
