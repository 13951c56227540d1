"""Krippendorff's alpha in closed form against pairs formed one by one, and his worked example."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.agreement.alpha import Level, krippendorff_alpha

NAN = float("nan")

# Four observers, twelve units (Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section C).
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]
EXAMPLE = np.array(OBSERVERS).ravel()
EXAMPLE_UNITS = np.tile(np.arange(12), 4)

Difference = Callable[[float, float], float]


def by_pairs(values: list[float], units: list[int], level: str) -> float | None:
    """The definition: squared differences of all pairs within units, and of all pairs at all."""
    seen = [(unit, value) for unit, value in zip(units, values, strict=True) if not math.isnan(value)]
    groups = {unit: [value for other, value in seen if other == unit] for unit, _ in seen}
    groups = {unit: group for unit, group in groups.items() if len(group) > 1}
    pooled = [value for group in groups.values() for value in group]
    if len(groups) < 2:
        return None

    def ordinal(x: float, y: float) -> float:
        between = sum(min(x, y) <= value <= max(x, y) for value in pooled)
        return (between - (pooled.count(x) + pooled.count(y)) / 2) ** 2 if x != y else 0.0

    difference: Difference = {
        "interval": lambda x, y: (x - y) ** 2,
        "nominal": lambda x, y: float(x != y),
        "ratio": lambda x, y: ((x - y) / (x + y)) ** 2,
        "ordinal": ordinal,
    }[level]
    within = sum(
        difference(x, y) / (len(group) - 1) for group in groups.values() for x, y in permutations(group, 2)
    )
    between = sum(difference(x, y) for x, y in permutations(pooled, 2))
    return None if between == 0 else 1 - (len(pooled) - 1) * within / between


@pytest.mark.parametrize(
    ("level", "right"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_worked_example(level: str, right: float) -> None:
    pairs = by_pairs(EXAMPLE.tolist(), EXAMPLE_UNITS.tolist(), level)
    assert pairs is not None and round(pairs, 3) == right
    if level != "ratio":
        ours = krippendorff_alpha(EXAMPLE, EXAMPLE_UNITS, level=Level(level))
        assert ours.alpha == pytest.approx(pairs, abs=1e-12)
        assert (ours.units, ours.values, ours.dropped_units, ours.missing) == (11, 40, 1, 7)
        assert ours.observed is not None and ours.expected is not None
        assert ours.alpha == pytest.approx(1 - ours.observed / ours.expected)


RATINGS = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from([0.0, 1.0, 2.0, 2.5, 40.0, 100.0, NAN])),
    min_size=1,
    max_size=40,
)


@settings(max_examples=200, deadline=None)
@given(RATINGS, st.sampled_from(list(Level)))
def test_closed_form_equals_pairs(ratings: list[tuple[int, float]], level: Level) -> None:
    units, values = [unit for unit, _ in ratings], [value for _, value in ratings]
    right = by_pairs(values, units, level)
    ours = krippendorff_alpha(np.array(values), units, level=level)
    assert (ours.alpha is None) == (right is None) == (ours.state != "ok")
    if right is not None:
        assert ours.alpha == pytest.approx(right, abs=1e-10)


@settings(max_examples=60, deadline=None)
@given(RATINGS, st.sampled_from(list(Level)), st.randoms(use_true_random=False))
def test_order_of_values_and_names_of_units_do_not_matter(
    ratings: list[tuple[int, float]], level: Level, random: object
) -> None:
    shuffled = list(ratings)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    answers = [
        krippendorff_alpha(np.array([v for _, v in rows]), names, level=level, resamples=20)
        for rows, names in (
            (ratings, [unit for unit, _ in ratings]),
            (shuffled, [unit for unit, _ in shuffled]),
            (ratings, [f"u{unit}" for unit, _ in ratings]),
        )
    ]
    for answer in answers[1:]:
        assert answer.state == answers[0].state
        if answer.alpha is not None:
            assert answer.alpha == pytest.approx(answers[0].alpha, abs=1e-12)
        if answer.interval is not None:
            assert answer.interval == pytest.approx(answers[0].interval, abs=1e-10)


@settings(max_examples=60, deadline=None)
@given(RATINGS, st.floats(0.01, 1e6), st.floats(-1e6, 1e6))
def test_unit_of_measurement_does_not_matter(
    ratings: list[tuple[int, float]], factor: float, shift: float
) -> None:
    values, units = np.array([value for _, value in ratings]), [unit for unit, _ in ratings]
    plain = krippendorff_alpha(values, units)
    scaled = krippendorff_alpha(factor * values + shift, units)
    if plain.alpha is not None and factor > 1e-3 * abs(shift):
        assert scaled.alpha == pytest.approx(plain.alpha, abs=1e-8)
    monotone = krippendorff_alpha(np.exp(values / 30), units, level=Level.ORDINAL)
    ranked = krippendorff_alpha(values, units, level=Level.ORDINAL)
    assert monotone.alpha == (None if ranked.alpha is None else pytest.approx(ranked.alpha, abs=1e-12))


@pytest.mark.parametrize("level", list(Level))
@pytest.mark.parametrize(
    ("values", "units", "state"),
    [
        ([], [], "no pairable values"),
        ([NAN, NAN], [1, 1], "no pairable values"),
        ([1, 2, 3], [1, 2, 3], "no pairable values"),
        ([1, 2, 3], [1, 1, 2], "one unit"),
        ([3, 3, 3, 3], [1, 1, 2, 2], "constant"),
        ([0, 0, 0, 0], [1, 1, 2, 2], "constant"),
    ],
)
def test_degenerate_data_are_named(level: Level, values: list[float], units: list[int], state: str) -> None:
    answer = krippendorff_alpha(np.array(values, dtype=float), units, level=level, resamples=10)
    assert (answer.state, answer.alpha, answer.interval, answer.observed) == (state, None, None, None)


@pytest.mark.parametrize("level", [Level.INTERVAL, Level.ORDINAL])
def test_rounding_is_no_disagreement(level: Level) -> None:
    values = np.array([0.1 + 0.2, 0.3, 0.3, 0.1 + 0.2])
    assert krippendorff_alpha(values, [1, 1, 2, 2], level=level).state == "constant"
    far = krippendorff_alpha(1e9 + np.array([0.0, 1.0, 5.0, 5.0]), [1, 1, 2, 2])
    assert far.alpha == pytest.approx(by_pairs([0, 1, 5, 5], [1, 1, 2, 2], "interval"), abs=1e-9)


def test_lengths_and_nesting_are_checked() -> None:
    with pytest.raises(ValueError, match="3 values and 2 units"):
        krippendorff_alpha(np.zeros(3), [1, 2])
    with pytest.raises(ValueError, match="2 values and 1 clusters"):
        krippendorff_alpha(np.zeros(2), [1, 2], clusters=[1])
    with pytest.raises(ValueError, match="two clusters"):
        krippendorff_alpha(np.zeros(2), [1, 1], clusters=[1, 2])


@pytest.mark.parametrize("level", list(Level))
def test_bootstrap_equals_one_that_copies_documents(level: Level) -> None:
    """Each resample's alpha is that of the data with the drawn documents put in anew, by pairs."""
    rng = np.random.default_rng(5)
    doc = np.repeat(np.arange(6), 6)
    unit = np.repeat(np.arange(18), 2)
    values = rng.integers(0, 5, 36).astype(float)
    ours = krippendorff_alpha(values, unit, level=level, clusters=doc, resamples=40, seed=9)
    drawn = np.random.default_rng(9).multinomial(6, np.full(6, 1 / 6), size=40)
    alphas = []
    for counts in drawn:
        copies = [
            (1000 * copy + unit[row], values[row]) for row in range(36) for copy in range(counts[doc[row]])
        ]
        alphas.append(by_pairs([value for _, value in copies], [name for name, _ in copies], level))
    assert None not in alphas
    right = np.quantile(np.array(alphas, dtype=float), [0.025, 0.975])
    assert ours.interval == pytest.approx(right, abs=1e-10)
    assert ours.clusters == 6


def test_one_cluster_has_no_interval() -> None:
    answer = krippendorff_alpha(np.array([1.0, 2, 5, 6]), [1, 1, 2, 2], clusters=["d"] * 4, resamples=100)
    assert answer.alpha is not None and (answer.interval, answer.clusters) == (None, 1)


@pytest.mark.parametrize("level", list(Level))
def test_resamples_without_an_alpha_are_counted(level: Level) -> None:
    """Of two documents, each constant, half of the resamples hold one alone."""
    answer = krippendorff_alpha(
        np.array([0.1, 0.1, 0.1, 0.1, 7.0, 7.0, 7.0, 7.0]),
        [1, 1, 2, 2, 3, 3, 4, 4],
        level=level,
        clusters=[1, 1, 1, 1, 2, 2, 2, 2],
        resamples=400,
    )
    assert answer.alpha == 1.0
    assert answer.undefined_resamples == pytest.approx(200, abs=60)
    assert answer.interval == pytest.approx((1.0, 1.0))
