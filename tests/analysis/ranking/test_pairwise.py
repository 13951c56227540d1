import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from analysis.ranking.pairwise import pairwise_accuracy, rounding, settled, signs

NAN = float("nan")


@pytest.mark.parametrize(
    ("gold", "metric", "accuracy", "counts"),
    [
        # accuracy; agreeing, pairs, ties of humans, ties of the metric, missing
        ([3, 2, 1], [30, 20, 10], 1.0, (3, 3, 0, 0, 0)),
        ([3, 2, 1], [10, 20, 30], 0.0, (0, 3, 0, 0, 0)),
        ([3, 2, 1], [1, 3, 2], 1 / 3, (1, 3, 0, 0, 0)),
        ([3, 2, 2], [3, 2, 2], 1.0, (3, 3, 1, 1, 0)),
        ([3, 2, 2], [3, 2, 1], 2 / 3, (2, 3, 1, 0, 0)),
        ([3, 2, 1], [0, 0, 0], 0.0, (0, 3, 0, 3, 0)),
        ([0.3, 0.1 + 0.2], [1.0, 1.0], 1.0, (1, 1, 1, 1, 0)),
        ([3, 2, 1], [3, NAN, 1], 1.0, (1, 1, 0, 0, 2)),
        ([1], [2], None, (0, 0, 0, 0, 0)),
        ([1, NAN], [2, 1], None, (0, 0, 0, 0, 1)),
    ],
)
def test_by_hand(gold: list, metric: list, accuracy: float | None, counts: tuple) -> None:
    found = pairwise_accuracy(np.array(gold, dtype=float), np.array(metric, dtype=float))
    assert found.accuracy == accuracy
    assert (found.agreeing, found.pairs, found.gold_ties, found.metric_ties, found.missing) == counts


scores = arrays(np.float64, st.integers(2, 9), elements=st.integers(-4, 4).map(float))


@given(scores, st.randoms(use_true_random=False), st.floats(0.1, 50), st.floats(-100, 100))
def test_names_order_and_scale_do_not_matter(metric: np.ndarray, random, scale: float, shift: float) -> None:
    gold = np.array([random.randint(-3, 3) for _ in metric], dtype=float)
    found = pairwise_accuracy(gold, metric)
    pairs = list(itertools.combinations(range(len(gold)), 2))
    agree = [np.sign(gold[i] - gold[j]) == np.sign(metric[i] - metric[j]) for i, j in pairs]
    assert found.accuracy == sum(agree) / len(pairs)
    order = random.sample(range(len(gold)), len(gold))
    assert pairwise_accuracy(gold[order], metric[order]) == found
    assert pairwise_accuracy(gold, scale * metric + shift) == found


def test_what_differs_by_rounding_is_made_one_value() -> None:
    values = np.array([[0.3, 0.1 + 0.2, NAN], [0.3 + 1e-9, -5.0, 0.0]])
    result = settled(values)
    assert result[0, 0] == result[0, 1] == 0.3
    np.testing.assert_array_equal(result[1], values[1])
    assert np.isnan(result[0, 2])
    assert np.isnan(settled(np.array([NAN]))).all()
    assert rounding(np.array([NAN, -4.0])) == 4e-12
    assert rounding(np.array([NAN])) == 0.0


def test_signs_within_a_tolerance() -> None:
    found = signs(np.array([0.5, -0.5, 0.1, NAN]), 0.1)
    np.testing.assert_array_equal(found, [1, -1, 0, NAN])
