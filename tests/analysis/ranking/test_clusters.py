"""Pairwise tests of systems against scipy and all sign flips; clusters and rank ranges by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, rankdata, wilcoxon

from analysis.ranking.clusters import (
    ClusterOptions,
    PairwiseTest,
    ZeroMethod,
    cluster_numbers,
    rank_systems,
    wilcoxon_log10_p,
)
from analysis.ranking.metrics_table import Unit
from analysis.ranking.units import Block

PERMUTATION = PairwiseTest.PERMUTATION
WILCOXON = ClusterOptions(test=PairwiseTest.WILCOXON)


def block(values: dict[str, list[float]], documents: list[int] | None = None) -> Block:
    scores = np.array(list(values.values()), dtype=float)[np.newaxis]
    units = scores.shape[2]
    return Block(
        metric="human",
        conditions=("DOC",),
        systems=tuple(values),
        left_out=(),
        incomplete=0,
        unit=np.arange(units),
        document=np.arange(units) if documents is None else np.array(documents),
        values=scores,
    )


@pytest.mark.parametrize("zero_method", ZeroMethod)
@pytest.mark.parametrize("units", [8, 50, 51, 300])
@pytest.mark.parametrize("decimals", [0, 12])
def test_wilcoxon_is_scipys(zero_method: ZeroMethod, units: int, decimals: int) -> None:
    rng = np.random.default_rng(units)
    differences = np.round(rng.normal(0.2, 1.0, size=(6, units)), decimals)
    log10_p, direction = wilcoxon_log10_p(differences, zero_method)
    # With ties scipy's p is exact for a few units alone, and ours for 50.
    close = 0.4 if (units, decimals) == (50, 0) else 1e-9
    for row, difference in enumerate(differences):
        plain = wilcoxon(difference, zero_method=str(zero_method))
        assert 10.0 ** log10_p[row] == pytest.approx(plain.pvalue, rel=close)
        upper = wilcoxon(difference, zero_method=str(zero_method), alternative="greater").pvalue
        lower = wilcoxon(difference, zero_method=str(zero_method), alternative="less").pvalue
        assert direction[row] == np.sign(lower - upper)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=10).filter(any), st.sampled_from(list(ZeroMethod)))
def test_wilcoxon_over_all_signs(differences: list[int], zero_method: ZeroMethod) -> None:
    values = np.array(differences, dtype=float)
    ranked = values[values != 0] if zero_method is ZeroMethod.WILCOX else values
    ranks = rankdata(np.abs(ranked))[ranked != 0]
    observed = ranks[ranked[ranked != 0] > 0].sum()
    sums = [sum(chosen) for size in range(ranks.size + 1) for chosen in itertools.combinations(ranks, size)]
    tails = (np.mean(np.array(sums) <= observed), np.mean(np.array(sums) >= observed))
    found = wilcoxon_log10_p(values[np.newaxis], zero_method)[0][0]
    assert 10.0**found == pytest.approx(min(1.0, 2 * min(tails)), rel=1e-12)


def test_zero_method_decides() -> None:
    """Mostly zeros: what becomes of them decides what is significant."""
    differences = np.array([[0.0] * 60 + [1.0] * 7 + [-1.0]])
    found = {method: float(wilcoxon_log10_p(differences, method)[0][0]) for method in ZeroMethod}
    assert found[ZeroMethod.WILCOX] < math.log10(0.05) < found[ZeroMethod.ZSPLIT]


def test_a_tiny_p_is_kept_as_its_logarithm() -> None:
    rng = np.random.default_rng(0)
    differences = rng.uniform(1.0, 2.0, size=(1, 5000))
    log10_p = float(wilcoxon_log10_p(differences, ZeroMethod.WILCOX)[0][0])
    # All ranks are positive: z = sqrt(3 n (n + 1) / (2 (2 n + 1))).
    z = math.sqrt(3 * 5000 * 5001 / (2 * 10001))
    assert log10_p == pytest.approx((math.log(2) + norm.logsf(z)) / math.log(10), rel=1e-9)
    assert -1000 < log10_p < -300


def test_no_difference_at_all_has_no_p() -> None:
    log10_p, direction = wilcoxon_log10_p(np.zeros((2, 10)), ZeroMethod.WILCOX)
    assert np.isnan(log10_p).all() and not direction.any()
    same = block({"A": [1.0, 2.0, 3.0], "B": [1.0, 2.0, 3.0]})
    for test in PairwiseTest:
        ranking = rank_systems(same, "DOC", ClusterOptions(test=test, permutations=99))
        assert ranking is not None
        assert (ranking.tests[0].log10_p, ranking.tests[0].better) == (None, None)
        assert [(s.rank, s.cluster, s.best, s.worst) for s in ranking.systems] == [(1.5, 1, 1, 2)] * 2


def test_rounding_is_no_difference() -> None:
    scores = [0.3] * 60
    sums = [0.1 + 0.2] * 60
    ranking = rank_systems(block({"A": scores, "B": sums}), "DOC", WILCOXON)
    assert ranking is not None and ranking.tests[0].log10_p is None


def test_permutation_p_against_all_sign_flips() -> None:
    rng = np.random.default_rng(3)
    values = {"A": rng.normal(0.6, 1, 9).tolist(), "B": rng.normal(0, 1, 9).tolist()}
    options = ClusterOptions(test=PERMUTATION, by=Unit.SEGMENT, permutations=40_000)
    ranking = rank_systems(block(values), "DOC", options)
    difference = np.array(values["A"]) - np.array(values["B"])
    flips = np.array(list(itertools.product((-1, 1), repeat=9)))
    exact = np.mean(np.abs(flips @ difference) >= abs(difference.sum()) - 1e-12)
    assert ranking is not None and ranking.tests[0].log10_p is not None
    assert 10 ** ranking.tests[0].log10_p == pytest.approx(exact, abs=4 * math.sqrt(exact / 40_000))


def test_documents_flip_as_one() -> None:
    """Ten documents of six equal segments each: as segments 60 of a kind, as documents ten."""
    rng = np.random.default_rng(8)
    per_document = rng.normal(0.35, 1, 10)
    values = {"A": np.repeat(per_document, 6).tolist(), "B": [0.0] * 60}
    documents = np.repeat(np.arange(10), 6).tolist()
    found = {}
    for by in Unit:
        options = ClusterOptions(test=PERMUTATION, by=by, permutations=20_000)
        ranking = rank_systems(block(values, documents), "DOC", options)
        assert ranking is not None and ranking.tests[0].log10_p is not None
        found[by] = 10 ** ranking.tests[0].log10_p
        assert ranking.units == (10 if by is Unit.DOCUMENT else 60)
    flips = np.array(list(itertools.product((-1, 1), repeat=10)))
    exact = np.mean(np.abs(flips @ per_document) >= abs(per_document.sum()) - 1e-12)
    assert found[Unit.DOCUMENT] == pytest.approx(exact, abs=4 * math.sqrt(exact / 20_000))
    assert found[Unit.SEGMENT] < found[Unit.DOCUMENT] / 2


def test_p_of_a_permutation_test_is_never_zero_and_few_units_are_said() -> None:
    values = {"A": [10.0] * 30, "B": [0.0] * 30}
    options = ClusterOptions(test=PERMUTATION, by=Unit.SEGMENT, permutations=99)
    ranking = rank_systems(block(values), "DOC", options)
    assert ranking is not None and ranking.tests[0].log10_p == pytest.approx(-2.0)
    assert not ranking.few_units
    few = rank_systems(
        block(values, [0] * 15 + [1] * 15), "DOC", ClusterOptions(test=PERMUTATION, permutations=999)
    )
    assert few is not None and few.few_units and few.tests[0].better is None


def wins(*pairs: tuple[int, int], systems: int) -> np.ndarray:
    matrix = np.zeros((systems, systems), dtype=bool)
    for winner, loser in pairs:
        matrix[winner, loser] = True
    return matrix


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        # 0 beats everyone; 1 and 2 do not differ and both beat 3.
        (wins((0, 1), (0, 2), (0, 3), (1, 3), (2, 3), systems=4), [1, 2, 2, 3]),
        # 1 does not beat 2: one cluster, though 0 beats 2.
        (wins((0, 2), systems=3), [1, 1, 1]),
        # 0 beats 1 and 1 beats 2, but 0 does not beat 2: no line holds for all above and all below.
        (wins((0, 1), (1, 2), systems=3), [1, 1, 1]),
        (wins((0, 1), (0, 2), (1, 2), systems=3), [1, 2, 3]),
        (wins(systems=3), [1, 1, 1]),
        (wins(systems=1), [1]),
        (wins(systems=0), []),
    ],
)
def test_clusters_by_hand(matrix: np.ndarray, expected: list[int]) -> None:
    assert cluster_numbers(matrix) == expected


def test_ranks_clusters_and_ranges_by_hand() -> None:
    """A above all; B and C alike; D worse than A and C, but not than B, which varies too much."""
    rng = np.random.default_rng(0)
    base = rng.normal(0, 5, 200)
    values = {
        "D": base + rng.normal(0, 0.2, 200),
        "B": base + 0.9 + rng.normal(0, 9.0, 200),
        "A": base + 9.0 + rng.normal(0, 0.2, 200),
        "C": base + 0.8 + rng.normal(0, 0.2, 200),
    }
    ranking = rank_systems(block({name: list(row) for name, row in values.items()}), "DOC", WILCOXON)
    assert ranking is not None
    means = sorted(((row.mean(), name) for name, row in values.items()), reverse=True)
    assert [system.system for system in ranking.systems] == [name for _, name in means]
    found = {system.system: (system.cluster, system.best, system.worst) for system in ranking.systems}
    assert found == {"A": (1, 1, 1), "B": (2, 2, 4), "C": (2, 2, 3), "D": (2, 3, 4)}
    assert len(ranking.tests) == 6
    tests = {frozenset((test.first, test.second)): test.better for test in ranking.tests}
    assert tests[frozenset("CD")] == "C" and tests[frozenset("BD")] is None


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from(list(PairwiseTest)),
    st.permutations(["A", "B", "C", "D"]),
    st.sampled_from([0.5, 4.0]),
)
def test_neither_names_nor_unit_matter(
    seed: int, test: PairwiseTest, order: list[str], factor: float
) -> None:
    rng = np.random.default_rng(seed)
    values = {name: (place + rng.normal(0, 3, 30)).round(1).tolist() for place, name in enumerate("ABCD")}
    options = ClusterOptions(test=test, permutations=200)
    plain = rank_systems(block(values), "DOC", options)
    moved = rank_systems(
        block({name: [factor * value for value in values[name]] for name in order}), "DOC", options
    )
    assert plain is not None and moved is not None

    def places(ranking):
        return {
            system.system: (system.rank, system.cluster, system.best, system.worst)
            for system in ranking.systems
        }

    assert places(plain) == places(moved)


@pytest.mark.parametrize("test", PairwiseTest)
def test_one_system_and_nothing_at_all(test: PairwiseTest) -> None:
    options = ClusterOptions(test=test, permutations=10)
    alone = rank_systems(block({"A": [1.0, 2.0]}), "DOC", options)
    assert alone is not None
    assert [(s.rank, s.cluster, s.best, s.worst) for s in alone.systems] == [(1.0, 1, 1, 1)]
    assert rank_systems(block({"A": [], "B": []}), "DOC", options) is None


def test_segments_of_a_document_go_together() -> None:
    """What the default holds and Wilcoxon's test does not: two equal systems, 20 documents of 8 segments."""
    rng = np.random.default_rng(2)
    documents = np.repeat(np.arange(20), 8)
    found = dict.fromkeys(PairwiseTest, 0)
    for _ in range(200):
        differences = rng.normal(0, 0.6, 20)[documents] + rng.normal(0, 0.8, 160)
        values = {"A": differences.tolist(), "B": [0.0] * 160}
        for test in PairwiseTest:
            options = ClusterOptions(test=test, permutations=199)
            ranking = rank_systems(block(values, documents.tolist()), "DOC", options)
            assert ranking is not None
            found[test] += ranking.tests[0].better is not None
    assert found[PERMUTATION] <= 20
    assert found[PairwiseTest.WILCOXON] > 40
    assert ClusterOptions().test is PERMUTATION


@pytest.mark.parametrize("options", [WILCOXON, ClusterOptions(test=PERMUTATION, permutations=199)])
def test_false_positives_are_near_the_level(options: ClusterOptions) -> None:
    """Two equal systems, 30 documents of two correlated segments: about 5 % of 400 draws differ.

    Wilcoxon's test takes segments to be independent; its draws are.
    """
    rng = np.random.default_rng(11)
    found = 0
    for _ in range(400):
        if options.test is PERMUTATION:
            differences = np.repeat(rng.normal(size=30), 2) + 0.3 * rng.normal(size=60)
        else:
            differences = rng.normal(size=60)
        values = {"A": differences.tolist(), "B": [0.0] * 60}
        ranking = rank_systems(block(values, np.repeat(np.arange(30), 2).tolist()), "DOC", options)
        assert ranking is not None
        found += ranking.tests[0].better is not None
    assert 8 <= found <= 36
