"""Differences of two means against scipy, the general matrix formulas and the paired answer."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.typing import NDArray
from scipy import stats

from analysis.equivalence.bootstrap import crossed_resamples
from analysis.equivalence.options import Method
from analysis.equivalence.paired import paired_estimate
from analysis.equivalence.pairs import ScorePairs
from analysis.equivalence.unpaired import unpaired_estimate

NAN = math.nan
RNG = np.random.default_rng(11)
N = 60
DOC = RNG.integers(0, 8, N)
PEOPLE = RNG.integers(0, 5, N)
SECOND = RNG.random(N) < 0.45
SCORES = 80 + 3 * RNG.normal(size=8)[DOC] + 2 * RNG.normal(size=5)[PEOPLE] + 6 * RNG.normal(size=N) + SECOND


def mixed(doc: NDArray | None = DOC, people: NDArray | None = PEOPLE) -> ScorePairs:
    """A row a score, in one of the two columns."""
    return ScorePairs(None, np.where(SECOND, NAN, SCORES), np.where(SECOND, SCORES, NAN), doc, people, None)


def cr2(clusters: list[object]) -> tuple[float, float]:
    """CR2 variance and Satterthwaite df of the slope, by matrices (Pustejovsky and Tipton 2018)."""
    design = np.column_stack([np.ones(N), SECOND.astype(float)])
    bread = np.linalg.inv(design.T @ design)
    residual_maker = np.eye(N) - design @ bread @ design.T
    residuals = residual_maker @ SCORES
    vectors = []
    for cluster in dict.fromkeys(clusters):
        own = np.array([name == cluster for name in clusters])
        block = residual_maker[np.ix_(own, own)]
        roots, basis = np.linalg.eigh(block)
        inverse = np.where(roots > 1e-10, 1 / np.sqrt(np.maximum(roots, 1e-10)), 0.0)
        adjust = (basis * inverse) @ basis.T
        vectors.append(residual_maker[:, own] @ adjust @ design[own] @ bread[:, 1])
    stacked = np.column_stack(vectors)
    variance = float(((stacked.T @ residuals) ** 2).sum())
    products = stacked.T @ stacked
    return variance, float(np.trace(products) ** 2 / (products**2).sum())


def test_naive_is_welch() -> None:
    found = unpaired_estimate(mixed(), Method.NAIVE)
    expected = stats.ttest_ind(SCORES[SECOND], SCORES[~SECOND], equal_var=False)
    assert found.difference == pytest.approx(SCORES[SECOND].mean() - SCORES[~SECOND].mean())
    assert found.df == pytest.approx(expected.df, rel=1e-12)
    assert found.interval(0.9) == pytest.approx(tuple(expected.confidence_interval(0.9)))
    difference = found.log10_p_difference()
    assert difference is not None and 10**difference == pytest.approx(expected.pvalue)
    low, high = found.one_sided(4.0) or (0.0, 0.0)
    for side, bound, tail in ((low, -4.0, "greater"), (high, 4.0, "less")):
        shifted = stats.ttest_ind(SCORES[SECOND] - bound, SCORES[~SECOND], equal_var=False, alternative=tail)
        assert 10**side == pytest.approx(shifted.pvalue)


@pytest.mark.parametrize(("method", "codes"), [(Method.DOCUMENT, DOC), (Method.ANNOTATOR, PEOPLE)])
def test_one_way_is_the_general_cr2(method: Method, codes: NDArray) -> None:
    found = unpaired_estimate(mixed(), method)
    variance, df = cr2(codes.tolist())
    assert found.se == pytest.approx(math.sqrt(variance), rel=1e-10)
    assert found.df == pytest.approx(df, rel=1e-10)


def test_one_way_is_near_statsmodels() -> None:
    fit = sm.OLS(SCORES, sm.add_constant(SECOND.astype(float))).fit(
        cov_type="cluster", cov_kwds={"groups": DOC}
    )
    found = unpaired_estimate(mixed(), Method.DOCUMENT)
    assert found.difference == pytest.approx(fit.params[1])
    assert found.se == pytest.approx(fit.bse[1], rel=0.1)


def test_two_way_is_the_sum_of_its_parts() -> None:
    found = unpaired_estimate(mixed(), Method.TWO_WAY)
    (by_doc, df_doc), (by_people, df_people) = cr2(DOC.tolist()), cr2(PEOPLE.tolist())
    cells, _ = cr2(list(zip(DOC.tolist(), PEOPLE.tolist(), strict=True)))
    assert found.se == pytest.approx(math.sqrt(by_doc + by_people - cells), rel=1e-10)
    assert found.df == pytest.approx(min(df_doc, df_people), rel=1e-10)
    assert (found.documents, found.annotators) == (8, 5)


def test_complete_pairs_clustered_alike_give_the_paired_answer() -> None:
    first, second = SCORES, SCORES + RNG.normal(1, 3, N)
    both = ScorePairs(None, first, second, DOC, PEOPLE, None)
    for method in (Method.DOCUMENT, Method.ANNOTATOR):
        paired, unpaired = paired_estimate(both, method), unpaired_estimate(both, method)
        assert unpaired.se == pytest.approx(paired.se, rel=1e-10)
        assert unpaired.df == pytest.approx(paired.df, rel=1e-10)
    assert unpaired.n == 2 * N
    drawn = unpaired_estimate(both, Method.BOOTSTRAP, resamples=300).resampled
    expected = paired_estimate(both, Method.BOOTSTRAP, resamples=300).resampled
    assert drawn == pytest.approx(expected)


def test_bootstrap_is_a_difference_of_resampled_means() -> None:
    found = unpaired_estimate(mixed(), Method.BOOTSTRAP, resamples=200, seed=4)
    means = crossed_resamples(
        [(SCORES[side], DOC[side], PEOPLE[side]) for side in (~SECOND, SECOND)], 200, seed=4
    )
    assert found.resampled == pytest.approx((means[:, 1] - means[:, 0])[~np.isnan(means).any(axis=1)])


@pytest.mark.parametrize(
    ("first", "second", "method", "state"),
    [
        ([1.0, 2.0, 3.0], [NAN] * 3, Method.NAIVE, "no data"),
        ([1.0, 2.0, NAN], [NAN, NAN, 3.0], Method.NAIVE, "too few"),
        ([5.0, 5.0, NAN, NAN], [NAN, NAN, 5.0, 5.0], Method.NAIVE, "degenerate"),
        ([5.1, 5.1, NAN, NAN], [NAN, NAN, 5.2, 5.2], Method.TWO_WAY, "too few"),
        ([1.0, 2.0, NAN, NAN], [NAN, NAN, 4.0, 5.5], Method.DOCUMENT, "too few"),
        ([1.0, 2.0, NAN, NAN], [NAN, NAN, 4.0, 5.5], Method.ANNOTATOR, "ok"),
        ([1.0, 2.0, NAN, NAN], [NAN, NAN, 4.0, 5.5], Method.BOOTSTRAP, "too few"),
        ([5.1, 5.1, NAN, NAN], [NAN, NAN, 5.2, 5.2], Method.ANNOTATOR, "degenerate"),
    ],
)
def test_states(first: list[float], second: list[float], method: Method, state: str) -> None:
    # Each condition lies within one document; annotators cross them.
    size = len(first)
    doc, people = np.array([0, 0, 1, 1])[:size], np.array([0, 1, 0, 1])[:size]
    found = unpaired_estimate(
        ScorePairs(None, np.array(first), np.array(second), doc, people, None), method, resamples=100
    )
    assert found.state == state
    assert (found.se is None) == (state != "ok")
    assert found.n == size


def test_rows_without_any_score_are_missing() -> None:
    found = unpaired_estimate(
        ScorePairs(None, np.array([1.0, NAN, 2.0, NAN]), np.array([3.0, NAN, NAN, 5.0]), None, None, None),
        Method.NAIVE,
    )
    assert (found.n, found.missing, found.difference) == (4, 1, 2.5)
