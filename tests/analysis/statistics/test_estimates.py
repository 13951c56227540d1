"""Cluster-robust means, intervals, TOST and shares against R, statsmodels and hand calculations."""

from __future__ import annotations

import csv
import json
import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import DescrStatsW

from analysis.statistics.estimates import (
    cluster_mean,
    equivalence_verdict,
    interval,
    paired_equivalence,
    smallest_detectable,
    t_test,
    tost,
)
from challenge_sets import InputError

CLUSTERED = [1.0, 2.0, 4.0, 0.0, 0.5, 3.0, 2.5, -1.0, 7.0]
SEGMENTS = ["a", "a", "a", "b", "b", "c", "d", "d", "e"]


@pytest.mark.data
@pytest.mark.parametrize("name", ["balanced", "unbalanced", "missing_cell", "singular"])
def test_equals_club_sandwich(data: Path, name: str) -> None:
    """Where each segment occurs once a cell, the CR2 of the joint design is the cell's own."""
    folder = data / "oracle_statistics"
    oracle = json.loads((folder / f"{name}.lme4.json").read_text(encoding="utf-8"))
    cells: dict[str, list[tuple[str, float]]] = defaultdict(list)
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            cells[f"{row['metric']}|{row['condition']}"].append((row["segment"], float(row["delta"])))
    errors = oracle["ols_cluster_se"]
    checked = 0
    for place, key in enumerate(oracle["reml"]["cells"]):
        segments, deltas = zip(*cells[key], strict=True)
        assert cluster_mean(deltas, segments, correction="CR0").se == pytest.approx(
            errors["CR0"][place], abs=1e-7
        )
        if len(set(segments)) == len(segments):
            estimate = cluster_mean(deltas, segments)
            assert estimate.se == pytest.approx(errors["CR2"][place], abs=1e-7)
            assert estimate.df == pytest.approx(len(segments) - 1)
            checked += 1
    assert checked == len(oracle["reml"]["cells"])


@pytest.mark.data
def test_equals_club_sandwich_in_clusters_of_several(data: Path) -> None:
    """Documents of unequal size: CR2 and its Satterthwaite degrees of freedom, and CR1 with G - 1."""
    folder = data / "oracle_statistics"
    oracle = json.loads((folder / "tost_clustered.R.json").read_text(encoding="utf-8"))
    with (folder / "tost_clustered.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    differences = [float(row["MIX"]) - float(row["DOC"]) for row in rows]
    documents = [row["doc"] for row in rows]
    found = cluster_mean(differences, documents)
    expected = oracle["doc_CR2_satterthwaite"]
    assert (found.n, found.mean) == (oracle["n"], pytest.approx(expected["est"], abs=1e-10))
    assert found.se == pytest.approx(expected["se"], abs=1e-10)
    assert found.df == pytest.approx(expected["df"], abs=1e-6)
    assert found.mean is not None
    assert found.se is not None
    assert found.df is not None
    for margin in (3, 5, 7):
        test = tost(found.mean, found.se, found.df, -margin, margin)
        lower, upper = (expected["tost"][f"eps{margin}"][side] for side in ("lower", "upper"))
        assert (10**test.log10_p_low, 10**test.log10_p_high) == pytest.approx((lower, upper), rel=1e-5)
    cr1 = cluster_mean(differences, documents, correction="CR1")
    assert (cr1.se, cr1.df) == (
        pytest.approx(oracle["doc_CR1_tG1"]["se"], abs=1e-10),
        oracle["doc_CR1_tG1"]["df"],
    )


def test_degrees_of_freedom_of_equal_clusters() -> None:
    values = [float(number % 7) for number in range(24)]
    found = cluster_mean(values, [number // 4 for number in range(24)])
    assert found.df == pytest.approx(5.0)


def test_equals_statsmodels_clustered() -> None:
    groups = np.unique(SEGMENTS, return_inverse=True)[1]
    fit = sm.OLS(CLUSTERED, np.ones(len(CLUSTERED))).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}
    )
    assert cluster_mean(CLUSTERED, SEGMENTS, correction="CR0").se == pytest.approx(fit.bse[0], rel=1e-12)
    g = len(set(SEGMENTS))
    assert cluster_mean(CLUSTERED, SEGMENTS, correction="CR1").se == pytest.approx(
        fit.bse[0] * math.sqrt(g / (g - 1)), rel=1e-12
    )


def test_by_hand() -> None:
    # Mean 2; residual sums a: -1 + 0 = -1, b: 2, c: -1; N = 4.
    values, segments = [1.0, 2.0, 4.0, 1.0], ["a", "a", "b", "c"]
    estimate = cluster_mean(values, segments)
    variance = (1 / (1 - 2 / 4) + 4 / (1 - 1 / 4) + 1 / (1 - 1 / 4)) / 16
    assert (estimate.mean, estimate.clusters) == (2.0, 3)
    # Shares 1/2, 1/4, 1/4; weights p²/(1-p) 1/2, 1/12, 1/12: 1 / (3/8 + (2/3)² - 19/72) = 9/5.
    assert estimate.df == pytest.approx(9 / 5)
    assert estimate.se == pytest.approx(math.sqrt(variance), rel=1e-14)


def test_cr2_is_the_general_matrix_formula() -> None:
    """The closed form equals (I - H_gg)^(-1/2) worked out by eigenvalues."""
    values, n = np.array(CLUSTERED), len(CLUSTERED)
    residuals, total = values - values.mean(), 0.0
    for group in set(SEGMENTS):
        own = np.array([segment == group for segment in SEGMENTS])
        size = int(own.sum())
        roots, vectors = np.linalg.eigh(np.eye(size) - np.full((size, size), 1 / n))
        total += float(np.ones(size) @ (vectors / np.sqrt(roots)) @ vectors.T @ residuals[own]) ** 2
    assert cluster_mean(CLUSTERED, SEGMENTS).se == pytest.approx(math.sqrt(total) / n, rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(-1e3, 1e3).map(lambda x: round(x, 3)), min_size=2, max_size=30))
def test_without_clusters_it_is_the_plain_standard_error(values: list[float]) -> None:
    estimate = cluster_mean(values)
    if len(set(values)) == 1:
        assert estimate.state == "degenerate"
        return
    assert estimate.se == pytest.approx(np.std(values, ddof=1) / math.sqrt(len(values)), rel=1e-9)
    assert estimate.mean is not None and estimate.se is not None and estimate.df is not None
    p = stats.ttest_1samp(values, 0.0).pvalue
    assert 10 ** t_test(estimate.mean, estimate.se, estimate.df) == pytest.approx(p, rel=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(len(CLUSTERED))))
def test_order_of_rows_changes_nothing(order: list[int]) -> None:
    shuffled = cluster_mean([CLUSTERED[i] for i in order], [SEGMENTS[i] for i in order])
    assert shuffled.se == pytest.approx(cluster_mean(CLUSTERED, SEGMENTS).se, rel=1e-14)


@pytest.mark.parametrize(
    ("values", "clusters", "state", "mean"),
    [
        ([], None, "no data", None),
        ([None, math.nan], ["a", "b"], "no data", None),
        ([1.0, 2.0], ["a", "a"], "too few", 1.5),
        ([3.0], None, "too few", 3.0),
        ([0.05] * 6, None, "degenerate", 0.05),
        ([0.3 - 0.1, 0.2, 0.2], None, "degenerate", 0.2),
        ([1.0, -1.0, 1.0, -1.0], ["a", "a", "b", "b"], "degenerate", 0.0),
    ],
)
def test_states(values: list[Any], clusters: list[str] | None, state: str, mean: float | None) -> None:
    estimate = cluster_mean(values, clusters)
    assert (estimate.state, estimate.se, estimate.df) == (state, None, None)
    assert estimate.mean == (None if mean is None else pytest.approx(mean))


def test_missing_values_go_with_their_clusters() -> None:
    estimate = cluster_mean([1.0, None, 2.0, math.nan, 4.0], ["a", "b", "a", "c", "d"])
    assert (estimate.n, estimate.missing, estimate.clusters) == (3, 2, 2)
    assert estimate == cluster_mean([1.0, 2.0, 4.0], ["a", "a", "d"]).__class__(
        3, 2, 2, estimate.mean, cluster_mean([1.0, 2.0, 4.0], ["a", "a", "d"]).se, estimate.df, "ok"
    )
    assert estimate.df == pytest.approx(1.0)


def test_interval_and_tost_equal_statsmodels() -> None:
    described = DescrStatsW(CLUSTERED)
    estimate = cluster_mean(CLUSTERED)
    assert estimate.mean is not None and estimate.se is not None and estimate.df is not None
    assert interval(estimate.mean, estimate.se, estimate.df, 0.95) == pytest.approx(
        described.tconfint_mean(0.05)
    )
    p, low, high = described.ttost_mean(-1.0, 3.0)
    test = tost(estimate.mean, estimate.se, estimate.df, -1.0, 3.0)
    assert 10**test.log10_p == pytest.approx(p)
    assert 10**test.log10_p_low == pytest.approx(low[1])
    assert 10**test.log10_p_high == pytest.approx(high[1])


def test_smallest_detectable_difference_has_the_power() -> None:
    for n in (20, 64, 400):
        effect = smallest_detectable(1 / math.sqrt(n), n - 1, alpha=0.05, power=0.8)
        power = TTestPower().power(effect, n, 0.05, alternative="two-sided")
        assert power == pytest.approx(0.8, abs=0.01)


@pytest.mark.data
def test_equivalence_cases(cases: Path) -> None:
    given_cases = json.loads((cases / "statistics" / "tost.json").read_text(encoding="utf-8"))
    assert len(given_cases) == 5
    for case in given_cases:
        low, high = case.get("low", -case.get("bound", 0)), case.get("high", case.get("bound"))
        if case["right"].startswith("error"):
            with pytest.raises(InputError, match="not below the upper bound"):
                paired_equivalence(case["differences"], low, high)
            continue
        result = paired_equivalence(case["differences"], low, high)
        if case["right"].startswith("the missing value"):
            assert (result.estimate.n, result.estimate.missing) == (4, 1)
            assert result.tost is not None and math.isfinite(result.tost.log10_p)
        else:
            assert case["right"].startswith(result.verdict)
            assert (result.tost is None) == (result.verdict == "degenerate")


@pytest.mark.data
def test_paired_tost_equals_r(data: Path) -> None:
    folder = data / "oracle_statistics"
    oracle = json.loads((folder / "tost_clustered.R.json").read_text(encoding="utf-8"))
    with (folder / "tost_clustered.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    differences = [float(row["MIX"]) - float(row["DOC"]) for row in rows]
    plain = paired_equivalence(differences, -3, 3)
    by_document = cluster_mean(differences, [row["doc"] for row in rows], correction="CR1")
    assert abs(plain.estimate.mean or 0) == pytest.approx(abs(oracle["paired_t"]["est"]), abs=1e-10)
    assert plain.estimate.se == pytest.approx(oracle["paired_t"]["se"], abs=1e-10)
    assert by_document.se == pytest.approx(oracle["doc_CR1_tG1"]["se"], abs=1e-10)
    assert by_document.df == oracle["doc_CR1_tG1"]["df"]
    assert by_document.mean is not None and by_document.se is not None
    test = tost(by_document.mean, by_document.se, 22, -3, 3)
    expected = oracle["doc_CR1_tG1"]["tost"]["eps3"]
    assert sorted([10**test.log10_p_low, 10**test.log10_p_high]) == pytest.approx(
        sorted(expected.values()), rel=1e-6
    )


@pytest.mark.parametrize(
    ("difference", "equivalence", "verdict"),
    [
        (0.5, 0.01, "equivalent"),
        (0.01, 0.5, "different"),
        (0.01, 0.01, "both (different but negligible)"),
        (0.5, 0.5, "inconclusive"),
    ],
)
def test_equivalence_verdicts(difference: float, equivalence: float, verdict: str) -> None:
    assert equivalence_verdict(math.log10(difference), math.log10(equivalence), 0.05) == verdict
