"""Kendall's tau-b of many rankings, thresholds in whole pairs, ranks."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import kendalltau, rankdata

from analysis.statistics import rank
from analysis.statistics.rank import (
    TauRows,
    average_ranks,
    identical_or_adjacent,
    kendall_tau,
    share_below,
    tau_b_rows,
    tau_threshold,
)
from challenge_sets import InputError

# Few distinct values, so that ties are common.
tied = st.integers(2, 12).flatmap(
    lambda systems: st.tuples(
        arrays(float, (4, systems), elements=st.integers(0, 5).map(float)),
        arrays(float, (4, systems), elements=st.integers(0, 5).map(float)),
    )
)


@given(tied)
def test_tau_b_is_scipys_with_ties(pair) -> None:
    a, b = pair
    tau = tau_b_rows(a, b).tau
    for row, found in enumerate(tau):
        expected = kendalltau(a[row], b[row]).statistic
        assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(arrays(float, (3, 9), elements=st.floats(-1e6, 1e6)), arrays(float, (3, 9), elements=st.floats(-1, 1)))
def test_tau_b_is_scipys_without_rounding(a, b) -> None:
    tau = tau_b_rows(a, b).tau
    expected = [kendalltau(x, y).statistic for x, y in zip(a, b, strict=True)]
    np.testing.assert_allclose(tau, expected, atol=1e-12)


@given(tied)
def test_counts_of_pairs(pair) -> None:
    a, b = pair
    rows = tau_b_rows(a, b)
    for row in range(len(a)):
        pairs = list(combinations(range(a.shape[1]), 2))
        products = [(a[row, i] - a[row, j]) * (b[row, i] - b[row, j]) for i, j in pairs]
        assert rows.pairs == len(pairs)
        assert rows.concordant[row] == sum(product > 0 for product in products)
        assert rows.discordant[row] == sum(product < 0 for product in products)
        assert rows.ties_a[row] == sum(a[row, i] == a[row, j] for i, j in pairs)
        assert rows.ties_b[row] == sum(b[row, i] == b[row, j] for i, j in pairs)


@given(tied, st.randoms())
def test_neither_the_order_of_systems_nor_the_unit_matters(pair, random) -> None:
    a, b = pair
    order = list(range(a.shape[1]))
    random.shuffle(order)
    tau = tau_b_rows(a, b).tau
    np.testing.assert_array_equal(tau_b_rows(a[:, order], 8 * b[:, order] - 3).tau, tau)
    np.testing.assert_array_equal(tau_b_rows(b, a).tau, tau)
    np.testing.assert_array_equal(tau_b_rows(a, -b).tau, -tau)


def test_rows_in_parts_are_the_same_rows(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 50, 6))
    whole = tau_b_rows(a, b)
    monkeypatch.setattr(rank, "_CELLS_AT_ONCE", 100)
    np.testing.assert_array_equal(tau_b_rows(a, b).tau, whole.tau)


def test_rounding_ties_within_the_tolerance_alone() -> None:
    a = np.array([0.1 + 0.2, 0.3, 1.0])
    b = np.array([1.0, 2.0, 3.0])
    assert kendall_tau(a, b).ties_a == 0
    settled = kendall_tau(a, b, tolerance=(1e-12, 0.0))
    assert (settled.ties_a, settled.ties_b) == (1, 0)
    assert settled.tau == pytest.approx(2 / math.sqrt(2 * 3))


@pytest.mark.parametrize("values", [[1.0, 1.0, 1.0], [5.0], []])
def test_no_tau_without_a_ranking(values) -> None:
    constant = np.array(values)
    found = kendall_tau(constant, np.arange(float(constant.size)))
    assert found.tau is None
    rows = tau_b_rows(constant[np.newaxis], constant[np.newaxis])
    assert share_below(tau_threshold("0.667"), rows) is None


def test_missing_scores_and_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="missing"):
        kendall_tau(np.array([1.0, np.nan]), np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="shapes"):
        tau_b_rows(np.zeros((2, 3)), np.zeros((3, 2)))


def ranking(swaps: int, systems: int) -> np.ndarray:
    """A ranking with so many discordant pairs with 0, 1, 2, …: neighbours exchanged one by one."""
    values = list(range(systems))
    done = 0
    while done < swaps:
        for place in range(systems - 1):
            if values[place] < values[place + 1] and done < swaps:
                values[place], values[place + 1] = values[place + 1], values[place]
                done += 1
    return np.array(values, dtype=float)


def rows_with(discordant: list[int], systems: int) -> TauRows:
    a = np.tile(np.arange(float(systems)), (len(discordant), 1))
    return tau_b_rows(a, np.stack([ranking(count, systems) for count in discordant]))


def test_two_thirds_of_nine_systems_is_not_below_0_667() -> None:
    """24 of 36 pairs: tau is exactly 2/3, which is less than 0.667 but prints as it."""
    rows = rows_with([5, 6, 7], 9)
    assert (rows.concordant - rows.discordant).tolist() == [26, 24, 22]
    assert rows.tau[1] < 0.667
    for text in ("0.667", "2/3", ".667", "0.67"):
        assert share_below(tau_threshold(text), rows) == pytest.approx(1 / 3)
        assert tau_threshold(text).net_needed(36) == 24
    assert share_below(tau_threshold("0.6671"), rows) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("0.667", Fraction(1333, 2000)),
        ("2/3", Fraction(2, 3)),
        ("0.5", Fraction(1, 2)),
        ("0.50", Fraction(99, 200)),
        ("1", Fraction(1)),
        ("0", Fraction(0)),
        ("0.000", Fraction(0)),
        (" 3/4 ", Fraction(3, 4)),
    ],
)
def test_thresholds(text: str, least: Fraction) -> None:
    assert tau_threshold(text).least == least


@pytest.mark.parametrize(
    "text", ["", "two thirds", "1.2", "-0.5", "3/2", "1/0", "nan", "inf", "0,667", "1e-1", "½"]
)
def test_thresholds_refused(text: str) -> None:
    with pytest.raises(InputError, match="threshold of tau"):
        tau_threshold(text)


@given(st.integers(2, 15), st.fractions(0, 1, max_denominator=50))
def test_net_pairs_needed_is_the_first_attainable_count(systems: int, least: Fraction) -> None:
    pairs = systems * (systems - 1) // 2
    attainable = [pairs - 2 * discordant for discordant in range(pairs + 1)]
    reaching = [net for net in attainable if Fraction(net, pairs) >= least]
    assert tau_threshold(str(least)).net_needed(pairs) == min(reaching)


@given(tied, st.sampled_from(["1/2", "2/3", "0.667", "0.123", "1", "0"]))
def test_share_below_with_ties_by_definition(pair, text) -> None:
    rows = tau_b_rows(*pair)
    threshold = tau_threshold(text)
    known = rows.tau[~np.isnan(rows.tau)]
    share = share_below(threshold, rows)
    if not known.size:
        assert share is None
    else:
        # No tau-b here lies so near to a threshold without being equal to it.
        assert share == np.mean(known < float(threshold.least) - 1e-12)


@given(st.lists(st.integers(0, 6).map(float), min_size=1, max_size=10))
def test_ranks_are_scipys(values) -> None:
    np.testing.assert_array_equal(average_ranks(np.array(values)), rankdata([-value for value in values]))


def test_ranks_of_rounded_ties_and_neighbours() -> None:
    ranks = average_ranks(np.array([0.3, 0.1 + 0.2, 1.0, 0.0]), tolerance=1e-12)
    assert ranks.tolist() == [2.5, 2.5, 1.0, 4.0]
    assert identical_or_adjacent(np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 1.0, 3.0, 4.0])) == 4
    assert identical_or_adjacent(np.array([1.0, 2.0, 3.0]), np.array([3.0, 2.0, 1.0])) == 1
    assert identical_or_adjacent(np.array([1.0, 2.5, 2.5]), np.array([1.0, 2.0, 3.0])) == 3


def attainable(systems: int, digits: int, tied_pairs: int = 0) -> dict[float, int]:
    """Values of tau-b as printed, with C - D, when so many pairs tie in one of two rankings."""
    pairs = systems * (systems - 1) // 2
    untied = pairs - tied_pairs
    root = math.sqrt(pairs * untied)
    return {round((untied - 2 * lost) / root, digits): untied - 2 * lost for lost in range(untied + 1)}


@pytest.mark.data
def test_published_taus_in_whole_pairs(data) -> None:
    """What the published figures of rankings (Kim et al. 2026) are in whole pairs of systems."""
    import json

    published = json.loads((data / "published" / "mixed_documents.json").read_text(encoding="utf-8"))["h2"]
    nine, ten = attainable(9, 3), attainable(10, 3)
    # Tau between conditions is attainable for nine systems and for ten.
    assert (nine[published["tau_doc_mix"]], ten[published["tau_doc_mix"]]) == (28, 35)
    assert nine[published["tau_min"]] == 24
    # The upper bound is 41 of 45 pairs; the lower one is 24 with a single pair tied: ten systems, not nine.
    low, high = published["ci95"]
    assert ten[high] == 41
    assert attainable(10, 3, tied_pairs=1)[low] == 24
    for tied_pairs in (0, 1, 2, 3):
        assert high not in attainable(9, 3, tied_pairs)
        assert low not in attainable(9, 3, tied_pairs)


@pytest.mark.parametrize(
    ("tau", "net"), [(0.67, 24), (0.89, 32), (0.5, 18), (0.61, 22), (0.56, 20), (0.72, 26)]
)
def test_published_agreement_of_metrics_fits_nine_systems(tau: float, net: int) -> None:
    assert attainable(9, 2)[tau] == net
