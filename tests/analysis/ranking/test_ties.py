import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.ranking.benchmark import read_benchmark
from analysis.ranking.ties import calibrate_ties, count_ties, item_accuracy

NAN = float("nan")


def loop(gold: np.ndarray, metric: np.ndarray) -> tuple[float, float]:
    """Every difference as a threshold, every pair anew: the first of the best, and its accuracy."""
    items = []
    for human, automatic in zip(gold.T, metric.T, strict=True):
        known = [place for place in range(len(human)) if not np.isnan(human[place] + automatic[place])]
        pairs = [
            (human[i] - human[j], automatic[i] - automatic[j]) for i, j in itertools.combinations(known, 2)
        ]
        if pairs:
            items.append(pairs)
    best = (-1.0, 0.0)
    for threshold in sorted({0.0, *(abs(other) for pairs in items for _, other in pairs)}):
        shares = []
        for pairs in items:
            agree = [
                (abs(other) <= threshold) if one == 0 else (abs(other) > threshold and one * other > 0)
                for one, other in pairs
            ]
            shares.append(sum(agree) / len(pairs))
        accuracy = sum(shares) / len(shares)
        if accuracy > best[0] + 1e-12:
            best = (accuracy, threshold)
    return best[1], best[0]


@st.composite
def boards(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    shape = draw(st.integers(2, 5)), draw(st.integers(1, 7))
    value = st.one_of(st.integers(-6, 6).map(float), st.just(NAN))
    size = shape[0] * shape[1]
    gold = draw(st.lists(value, min_size=size, max_size=size))
    # Quarters are exact, so that the plain loop needs no tolerance.
    metric = draw(
        st.lists(
            st.one_of(st.integers(-20, 20).map(lambda n: n / 4), st.just(NAN)), min_size=size, max_size=size
        )
    )
    return np.array(gold).reshape(shape), np.array(metric).reshape(shape)


@settings(max_examples=200, deadline=None)
@given(boards())
def test_thresholds_and_accuracies_of_a_plain_loop(board: tuple[np.ndarray, np.ndarray]) -> None:
    gold, metric = board
    found = calibrate_ties(gold, metric)
    if not found.pairs:
        assert found.accuracy is None and found.threshold is None and found.items == 0
        return
    threshold, accuracy = loop(gold, metric)
    assert found.threshold == threshold
    assert found.accuracy == pytest.approx(accuracy, abs=1e-12)
    assert found.uncalibrated is not None and found.uncalibrated <= found.accuracy + 1e-12
    assert np.nanmean(item_accuracy(gold, metric, threshold)) == pytest.approx(accuracy, abs=1e-12)


@settings(deadline=None)
@given(boards(), st.randoms(use_true_random=False), st.floats(0.1, 9), st.floats(-20, 20))
def test_names_order_and_scale_do_not_matter(board, random, scale: float, shift: float) -> None:
    gold, metric = board
    found = calibrate_ties(gold, metric)
    rows = random.sample(range(gold.shape[0]), gold.shape[0])
    columns = random.sample(range(gold.shape[1]), gold.shape[1])
    moved = calibrate_ties(gold[rows][:, columns], metric[rows][:, columns])
    assert (moved.threshold, moved.pairs, moved.tie_rate) == (found.threshold, found.pairs, found.tie_rate)
    assert moved.accuracy == (None if found.accuracy is None else pytest.approx(found.accuracy, abs=1e-12))
    scaled = calibrate_ties(gold, scale * metric + shift)
    assert scaled.calibrated_tie_rate == found.calibrated_tie_rate
    if found.threshold is not None:
        assert scaled.threshold == pytest.approx(scale * found.threshold, abs=1e-9)
        assert scaled.accuracy == pytest.approx(found.accuracy, abs=1e-12)


def test_by_hand() -> None:
    # Pairs 1-2, 1-3, 2-3 of one segment: humans tie on the first; the metric differs by 1, 5, 4.
    found = calibrate_ties(np.array([[0.0], [0.0], [-9.0]]), np.array([[5.0], [4.0], [0.0]]))
    assert (found.accuracy, found.threshold, found.uncalibrated) == (1.0, 1.0, 2 / 3)
    assert (found.pairs, found.items) == (3, 1)
    assert (found.gold_tie_rate, found.tie_rate, found.calibrated_tie_rate) == (1 / 3, 0.0, 1 / 3)


def test_segments_with_fewer_pairs_weigh_as_much() -> None:
    gold = np.array([[1.0, 1.0], [0.0, 0.0], [-1.0, NAN]])
    metric = np.array([[3.0, 0.0], [2.0, 3.0], [1.0, 0.0]])
    # Three of three pairs agree in the first segment, none of one in the second.
    assert calibrate_ties(gold, metric).accuracy == 0.5
    np.testing.assert_array_equal(item_accuracy(gold, metric, 0.0), [1.0, 0.0])


def test_rounding_makes_no_difference_of_a_tie() -> None:
    tenths = np.array([[-0.3], [-(0.1 + 0.2)], [-5.1]])
    counted = count_ties(tenths)
    assert (counted.pairs, counted.ties, counted.hidden, counted.rate) == (3, 1, 1, 1 / 3)
    assert calibrate_ties(tenths, tenths).accuracy == 1.0
    assert calibrate_ties(tenths, tenths).threshold == 0.0


def test_constant_and_missing_scores() -> None:
    gold = np.array([[1.0, 2.0], [1.0, 3.0]])
    constant = calibrate_ties(gold, np.zeros((2, 2)))
    assert (constant.accuracy, constant.threshold, constant.calibrated_tie_rate) == (0.5, 0.0, 1.0)
    for one, other in ((gold, np.full((2, 2), NAN)), (gold[:1], gold[:1])):
        empty = calibrate_ties(one, other)
        assert (empty.accuracy, empty.threshold, empty.pairs, empty.tie_rate) == (None, None, 0, None)
    assert count_ties(gold[:1]).rate is None
    with pytest.raises(ValueError, match="shape"):
        calibrate_ties(gold, gold[:, :1])


@pytest.mark.data
def test_wmt23(data: Path) -> None:
    """Thresholds and accuracies equal those of mt-metrics-eval's own algorithm on rounded human scores.

    On the scores as stored it gives 0.0003 more, because 13 pairs of equal MQM penalties differ in the last
    bit there and count as no ties: 23.11 % instead of 23.16 %.
    """
    board = read_benchmark(data / "wmt23", "en-de", "mqm")
    human = count_ties(board.gold.segments)
    assert (human.pairs, human.ties, human.hidden) == (30_360, 7_030, 13)
    assert (human.ties - human.hidden) / human.pairs == pytest.approx(0.231, abs=5e-4)
    expected = {
        "GEMBA-MQM-src": (0.0, 0.5718379),
        "CometKiwi-XL-src": (0.005783677, 0.5703228),
        "CometKiwi-XXL-src": (0.0023065805, 0.5774045),
        "MetricX-23-QE-src": (0.176166296, 0.5962121),
        "XCOMET-XL-refA": (0.001829, 0.6003623),
        "XCOMET-XXL-refA": (0.000108, 0.6027997),
    }
    for metric in board.metrics:
        if metric.label in expected:
            found = calibrate_ties(board.gold.segments, metric.segments)
            assert found.threshold == pytest.approx(expected[metric.label][0], abs=1e-9)
            assert found.accuracy == pytest.approx(expected[metric.label][1], abs=1e-7)
            assert found.items == 460
    gemba = next(metric for metric in board.metrics if metric.name == "GEMBA-MQM")
    ties = count_ties(gemba.segments)
    # All 557 segments, rated by humans or not; on the 460 rated ones it is 33.1 %.
    assert ties.pairs == 557 * 66
    assert ties.rate == pytest.approx(0.326, abs=5e-4)
