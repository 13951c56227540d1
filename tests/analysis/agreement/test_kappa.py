"""Cohen's kappa against statsmodels, exact fractions and the published table."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from statsmodels.stats.inter_rater import cohens_kappa

from analysis.agreement.kappa import BinaryCounts, kappa_from_counts, kappa_from_labels, kappa_of_table
from challenge_sets import InputError

LABELS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=2, max_size=60)


def exact(pairs: list[tuple[str, str]]) -> Fraction | None:
    """Kappa in fractions, straight from the definition."""
    n = len(pairs)
    observed = Fraction(sum(a == b for a, b in pairs), n)
    expected = sum(
        Fraction(sum(a == label for a, _ in pairs) * sum(b == label for _, b in pairs), n * n)
        for label in "abc"
    )
    return None if expected == 1 else (observed - expected) / (1 - expected)


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning:statsmodels")
@given(LABELS)
def test_labels_give_the_definition_and_its_standard_error(pairs: list[tuple[str, str]]) -> None:
    ours = kappa_from_labels([a for a, _ in pairs], [b for _, b in pairs])
    right = exact(pairs)
    assert (ours.kappa is None) == (right is None) == (ours.state == "undefined")
    if right is None:
        return
    assert ours.kappa == pytest.approx(float(right), abs=1e-12)
    theirs = cohens_kappa(np.array(ours.table))
    assert theirs.kappa == pytest.approx(ours.kappa, abs=1e-12)
    if ours.state == "ok":
        assert ours.se == pytest.approx(theirs.std_kappa, rel=1e-6)
        assert ours.interval is not None
        half = norm.ppf(0.975) * theirs.std_kappa
        assert ours.interval[0] == pytest.approx(max(-1, ours.kappa - half), rel=1e-6, abs=1e-9)
        assert ours.interval[1] == pytest.approx(min(1, ours.kappa + half), rel=1e-6, abs=1e-9)
    else:
        assert ours.se is None and ours.interval is None and abs(theirs.var_kappa) < 1e-9


@settings(max_examples=30)
@given(LABELS, st.randoms(use_true_random=False))
def test_order_names_and_who_is_first_do_not_matter(pairs: list[tuple[str, str]], random: object) -> None:
    def answer(items: list[tuple[str, str]]) -> object:
        kappa = kappa_from_labels([a for a, _ in items], [b for _, b in items], resamples=20)
        return kappa.kappa, kappa.bootstrap_interval, kappa.state

    shuffled = list(pairs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert answer(shuffled) == answer(pairs)
    assert answer([(a + "!", b + "!") for a, b in pairs]) == answer(pairs)
    swapped = answer([(b, a) for a, b in pairs])
    assert swapped[0] == answer(pairs)[0]  # type: ignore[index]


def test_missing_labels_are_counted_and_left_out() -> None:
    kappa = kappa_from_labels(["a", None, "b", "a", None], ["a", "b", "b", "b", None])
    assert (kappa.n, kappa.missing) == (3, 2)
    assert kappa.kappa == pytest.approx(0.4)  # observed 2/3, expected 4/9


@pytest.mark.parametrize(
    ("counts", "state", "kappa"),
    [
        ((10, 10, 10, 10, 0), "undefined", None),
        ((4, 0, 0, 0, 4), "undefined", None),
        ((0, 0, 0, 0, 0), "no data", None),
        ((5, 3, 3, 3, 2), "no variance", 1.0),
        ((4, 2, 2, 0, 0), "no variance", -1.0),
        ((1, 1, 0, 0, 0), "no variance", 0.0),
        ((6, 4, 4, 3, 1), "ok", 0.25),
    ],
)
def test_degenerate_counts_are_named(counts: tuple[int, ...], state: str, kappa: float | None) -> None:
    answer = kappa_from_counts(BinaryCounts(*counts), resamples=50)
    assert answer.state == state
    assert answer.kappa == (None if kappa is None else pytest.approx(kappa))
    assert (answer.se is None) == (answer.interval is None) == (state != "ok")
    assert (answer.bootstrap_interval is None) == (state != "ok")


@pytest.mark.parametrize(
    ("counts", "problem"),
    [
        ((112, 100, 102, 96, 7), "do not add up"),
        ((10, 5, 6, 6, 5), "only 5 for the first"),
        ((10, 6, 5, 6, 5), "only 5 for the second"),
        ((-1, 0, 0, 0, -1), "negative"),
    ],
)
def test_counts_that_cannot_be_are_refused(counts: tuple[int, ...], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        BinaryCounts(*counts)


def test_bootstrap_resamples_items() -> None:
    """Drawing items one by one gives the same interval up to the noise of 4,000 resamples."""
    items = [("v", "v")] * 30 + [("v", "i")] * 6 + [("i", "v")] * 4 + [("i", "i")] * 20
    ours = kappa_from_labels([a for a, _ in items], [b for _, b in items], resamples=4000, seed=3)
    rng = np.random.default_rng(8)
    drawn = []
    for _ in range(4000):
        sample = [items[k] for k in rng.integers(0, len(items), len(items))]
        table = np.array([[sample.count((a, b)) for b in "vi"] for a in "vi"])
        drawn.append(cohens_kappa(table, return_results=False))
    assert ours.bootstrap_interval == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.02)
    assert ours.interval is not None and ours.interval == pytest.approx(ours.bootstrap_interval, abs=0.04)


def test_resamples_without_a_kappa_are_counted() -> None:
    kappa = kappa_from_counts(BinaryCounts(4, 3, 3, 2, 0), resamples=500)
    # All four draws are (valid, valid) with probability (2 / 4)^4.
    share = kappa.undefined_resamples / 500
    assert share == pytest.approx(1 / 16, abs=4 * math.sqrt(1 / 16 * 15 / 16 / 500))


def test_more_of_the_same_leaves_kappa_and_halves_the_error() -> None:
    table = np.array([[20, 5, 1], [3, 30, 4], [2, 2, 25]])
    once, four = kappa_of_table(table, tuple("abc")), kappa_of_table(4 * table, tuple("abc"))
    assert four.kappa == pytest.approx(once.kappa)
    assert once.se is not None and four.se == pytest.approx(once.se / 2)


@pytest.mark.data
def test_published_table_is_consistent_and_follows_from_its_counts(data: Path) -> None:
    rows = json.loads((data / "published" / "minimal_pairs.json").read_text("utf-8"))["table7_agreement"]
    names = ("n", "valid_annotator1", "valid_annotator2", "both_valid", "both_invalid")
    counts = {row["category"]: BinaryCounts(*(row[name] for name in names)) for row in rows}
    for row in rows:
        kappa = kappa_from_counts(counts[row["category"]]).kappa
        assert kappa is not None and round(kappa, 3) == row["kappa"], row["category"]
    assert len(rows) == 14
    variations = {"segmentation", "name_annotation", "name_format"}
    totals = {"errors", "variations", "overall"}
    for name, members in {
        "errors": counts.keys() - variations - totals,
        "variations": variations,
        "overall": {"errors", "variations"},
    }.items():
        summed = sum(counts[member].table() for member in members)
        assert (summed == counts[name].table()).all(), name
