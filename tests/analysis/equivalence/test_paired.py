"""Paired methods against R, against plain loops, and on what cannot be tested."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis.equivalence.bootstrap import crossed_resamples
from analysis.equivalence.estimate import Estimate
from analysis.equivalence.options import Method
from analysis.equivalence.paired import annotator_means, paired_estimate
from analysis.equivalence.pairs import ScorePairs, read_pairs
from analysis.statistics.estimates import cluster_mean, tost
from analysis.statistics.resampling import resample_counts

NAN = math.nan


def pairs(
    first: list[float], second: list[float], doc: str | None = None, annotator: str | None = None
) -> ScorePairs:
    def codes(names: str | None) -> np.ndarray | None:
        return None if names is None else np.unique(list(names), return_inverse=True)[1]

    return ScorePairs(None, np.array(first), np.array(second), codes(doc), codes(annotator), None)


def oracle(data: Path) -> Iterator[tuple[ScorePairs, dict]]:
    folder = data / "oracle_statistics"
    expected = json.loads((folder / "tost_clustered.R.json").read_text("utf-8"))
    yield read_pairs(folder / "tost_clustered.csv").sources[0], expected


def check(difference: float, se: float, df: float, expected: dict) -> None:
    assert difference == pytest.approx(expected["est"], rel=1e-12)
    assert se == pytest.approx(expected["se"], rel=1e-12)
    assert df == pytest.approx(expected["df"], rel=1e-9)
    for margin in (3.0, 5.0, 7.0):
        test = tost(difference, se, df, -margin, margin)
        sides = expected["tost"][f"eps{margin:.0f}"]
        # R's figures have 15 digits; far out a relative error of 1e-13 in t is one of 1e-11 in p.
        assert test.log10_p_low == pytest.approx(math.log10(sides["lower"]), rel=1e-10)
        assert test.log10_p_high == pytest.approx(math.log10(sides["upper"]), rel=1e-10)


@pytest.mark.data
@pytest.mark.parametrize(
    ("method", "name"), [(Method.NAIVE, "paired_t"), (Method.DOCUMENT, "doc_CR2_satterthwaite")]
)
def test_equals_r(data: Path, method: Method, name: str) -> None:
    for given_pairs, expected in oracle(data):
        found = paired_estimate(given_pairs, method)
        assert found.difference is not None and found.se is not None and found.df is not None
        check(found.difference, found.se, found.df, expected[name])
        # The sign of MIX - DOC, and which one-sided test is which.
        assert found.difference < 0
        sides = found.one_sided(3.0)
        assert sides is not None
        assert 10 ** sides[0] == pytest.approx(expected[name]["tost"]["eps3"]["lower"], rel=1e-8)
        assert 10 ** sides[1] == pytest.approx(expected[name]["tost"]["eps3"]["upper"], rel=1e-8)


@pytest.mark.data
def test_cr1_by_document_equals_r(data: Path) -> None:
    for given_pairs, expected in oracle(data):
        found = cluster_mean(given_pairs.second - given_pairs.first, given_pairs.doc, correction="CR1")
        assert found.mean is not None and found.se is not None and found.df is not None
        check(found.mean, found.se, found.df, expected["doc_CR1_tG1"])


@pytest.mark.data
def test_two_way_on_the_oracle_table(data: Path) -> None:
    for given_pairs, expected in oracle(data):
        found = paired_estimate(given_pairs, Method.TWO_WAY)
        assert (found.documents, found.annotators, found.df) == (23, 10, 9.0)
        # Beside the mixed model with both random effects, which weighs documents differently.
        assert found.se == pytest.approx(expected["lmm_doc_annotator"]["se"], rel=0.15)
        naive = paired_estimate(given_pairs, Method.NAIVE)
        assert found.se is not None and naive.se is not None and found.se > 1.5 * naive.se


CROSSED = pairs(
    [80, 70, 65, 90, 55, 60, 72, 81],
    [82, 69, 70, 88, 50, 66, 72, 90],
    doc="aabbccdd",
    annotator="xyxzyzxx",
)


def test_bootstrap_equals_a_plain_loop() -> None:
    assert CROSSED.doc is not None and CROSSED.annotator is not None
    differences = CROSSED.second - CROSSED.first
    drawn = crossed_resamples([(differences, CROSSED.doc, CROSSED.annotator)], 300, seed=7)[:, 0]
    rng = np.random.default_rng(7)
    documents, people = resample_counts(4, 300, rng), resample_counts(3, 300, rng)
    for number in range(300):
        total, weight = 0.0, 0
        for value, doc, person in zip(differences, CROSSED.doc, CROSSED.annotator, strict=True):
            times = documents[number, doc] * people[number, person]
            total, weight = total + times * value, weight + times
        if weight:
            assert drawn[number] == pytest.approx(total / weight, rel=1e-12, abs=1e-12)
        else:
            assert math.isnan(drawn[number])
    assert np.isnan(drawn).any(), "the table is to have resamples without a score"
    assert (drawn == crossed_resamples([(differences, CROSSED.doc, CROSSED.annotator)], 300, seed=7)[:, 0])[
        ~np.isnan(drawn)
    ].all()


def test_bootstrap_over_one_clustering_is_the_ordinary_one() -> None:
    assert CROSSED.doc is not None
    differences = CROSSED.second - CROSSED.first
    drawn = crossed_resamples([(differences, CROSSED.doc, None)], 4000, seed=1)[:, 0]
    sums = np.bincount(CROSSED.doc, weights=differences)
    # All documents have two values: the bootstrap variance is the population variance over the number.
    assert np.std(drawn) == pytest.approx(np.std(sums / 2) / 2, rel=0.05)


def test_bootstrap_tests_count_resamples() -> None:
    found = paired_estimate(CROSSED, Method.BOOTSTRAP, resamples=500, seed=3)
    assert found.resampled is not None and found.df is None
    known = found.resampled
    lower, upper = found.one_sided(2.0) or (0.0, 0.0)
    assert 10**lower == pytest.approx((sum(value <= -2.0 for value in known) + 1) / (known.size + 1))
    assert 10**upper == pytest.approx((sum(value >= 2.0 for value in known) + 1) / (known.size + 1))
    assert found.se == pytest.approx(float(np.std(known, ddof=1)))
    assert found.notes == (f"{500 - known.size} resamples drew no score and are left out",)
    low, high = found.interval(0.9) or (0.0, 0.0)
    assert (low, high) == pytest.approx(tuple(np.quantile(known, [0.05, 0.95])))
    # Never 0, however far the margin.
    assert found.one_sided(1e6) == (pytest.approx(-math.log10(known.size + 1)),) * 2
    difference = found.log10_p_difference()
    share = min(sum(known <= 0.0), sum(known >= 0.0))
    assert difference == pytest.approx(min(0.0, math.log10(2 * (share + 1) / (known.size + 1))))


def test_annotator_means_by_hand() -> None:
    given_pairs = pairs(
        [80, 60, 70, NAN, 50, 40], [82, NAN, 75, 71, NAN, NAN], doc="aabbcc", annotator="xxyyzz"
    )
    found = annotator_means(given_pairs)
    # x: 82 - 70, y: 73 - 70, z has no second score.
    assert (found.n, found.missing, found.annotators) == (2, 1, 2)
    assert (found.mean_first, found.mean_second, found.difference) == (70.0, 77.5, 7.5)
    assert found.se == pytest.approx(4.5) and found.df == pytest.approx(1.0)


def test_annotator_means_equal_scipy_on_complete_pairs() -> None:
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(6), 5)
    first, second = rng.normal(80, 5, 30), rng.normal(81, 5, 30)
    found = annotator_means(ScorePairs(None, first, second, None, people, None))
    means = (second - first).reshape(6, 5).mean(axis=1)
    expected = stats.ttest_1samp(means, 0.0)
    difference = found.log10_p_difference()
    assert difference is not None and 10**difference == pytest.approx(expected.pvalue)


@pytest.mark.parametrize("method", [Method.NAIVE, Method.DOCUMENT, Method.TWO_WAY, Method.BOOTSTRAP])
@pytest.mark.parametrize(
    ("given_pairs", "states"),
    [
        (pairs([NAN, 1.0], [2.0, NAN], "ab", "xy"), {"no data"}),
        (pairs([], [], "", ""), {"no data"}),
        (pairs([86.1, 70.3, 50.2, 20.0], [86.2, 70.4, 50.3, 20.1], "aabb", "xyxy"), {"degenerate"}),
        (pairs([1.0, 2.0, 3.0], [2.0, 4.0, 3.5], "aaa", "xyz"), {"too few", "ok"}),
        (pairs([1.0, 2.0, 3.0], [2.0, 4.0, 3.5], "abc", "xxx"), {"too few", "ok"}),
        (pairs([1.0], [2.0], "a", "x"), {"too few"}),
    ],
)
def test_states(given_pairs: ScorePairs, states: set[str], method: Method) -> None:
    found = paired_estimate(given_pairs, method, resamples=100)
    assert found.state in states
    if method in (Method.TWO_WAY, Method.BOOTSTRAP):
        assert found.state == (states - {"ok"} or states).pop()
    if found.state != "ok":
        assert found.se is found.df is found.resampled is None
        assert found.interval(0.9) is found.one_sided(3.0) is found.log10_p_difference() is None
    for value in (found.mean_first, found.mean_second, found.difference):
        assert value is None or math.isfinite(value)


def test_rows_without_a_score_are_in_no_mean() -> None:
    found = paired_estimate(pairs([80, NAN, 70, 60], [81, 99, NAN, 66], "abcd", "xyxy"), Method.NAIVE)
    assert (found.n, found.missing) == (2, 2)
    assert (found.mean_first, found.mean_second, found.difference) == (70.0, 73.5, 3.5)


def _numbers(found: Estimate) -> list[float]:
    sides = found.one_sided(2.0) or (0.0, 0.0)
    return [found.difference or 0.0, found.se or 0.0, *sides]


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(40)), st.sampled_from(sorted(set(Method) - {Method.ANNOTATOR_MEANS})))
def test_order_of_rows_and_direction(order: list[int], method: Method) -> None:
    rng = np.random.default_rng(2)
    first, second = rng.normal(80, 5, 40), rng.normal(80, 5, 40)
    doc, people = np.arange(40) % 7, np.arange(40) % 3
    plain = paired_estimate(ScorePairs(None, first, second, doc, people, None), method, resamples=200)
    mixed = paired_estimate(
        ScorePairs(None, first[order], second[order], doc[order], people[order], None), method, resamples=200
    )
    assert _numbers(mixed) == pytest.approx(_numbers(plain), rel=1e-9)
    turned = paired_estimate(ScorePairs(None, second, first, doc, people, None), method, resamples=200)
    assert turned.difference == pytest.approx(-(plain.difference or 0.0))
    assert turned.one_sided(2.0) == pytest.approx(tuple(reversed(plain.one_sided(2.0) or ())))
