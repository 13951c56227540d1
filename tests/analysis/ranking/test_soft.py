import itertools
from pathlib import Path

import numpy as np
import pytest

from analysis.ranking.benchmark import read_benchmark
from analysis.ranking.soft import draw_flips, flip_chunks, pair_p_values, soft_accuracy, unit_sums

NAN = float("nan")


def every_flip(units: int) -> np.ndarray:
    return np.array(list(itertools.product((1, -1), repeat=units)), dtype=np.int8)


def loop(gold: np.ndarray, metric: np.ndarray, units: np.ndarray, flips: np.ndarray) -> float:
    """Pair by pair, permutation by permutation, in both directions."""
    errors = []
    for i, j in itertools.permutations(range(len(gold)), 2):
        p = []
        known = ~np.isnan(gold[i] + gold[j] + metric[i] + metric[j])
        for scores in (gold, metric):
            difference = (scores[i] - scores[j])[known]
            sums = [(difference * row[units][known]).sum() for row in flips]
            p.append((sum(s >= difference.sum() - 1e-9 for s in sums) + 1) / (len(flips) + 1))
        errors.append(abs(p[0] - p[1]))
    return 1 - float(np.mean(errors))


def test_p_values_by_hand() -> None:
    # Differences 1, 2, 3: of the eight sums one is 6 and all are at most 6; the other direction gets all.
    found = pair_p_values(np.array([[1.0, 2.0, 3.0]]), np.arange(3), every_flip(3))
    np.testing.assert_allclose(found, [[2 / 9], [1.0]])
    # Two segments of one document go together: the sums are ±6 and 0.
    found = pair_p_values(np.array([[1.0, 2.0, 3.0]]), np.array([0, 0, 1]), every_flip(2))
    np.testing.assert_allclose(found, [[2 / 5], [1.0]])


def test_sums_that_tie_but_for_rounding_count() -> None:
    # 0.3 - 0.1 - 0.2 is not 0 in floats; no p-value may hang on that.
    found = pair_p_values(np.array([[0.1, 0.2, -0.3]]), np.arange(3), every_flip(3))
    np.testing.assert_allclose(found, [[6 / 9], [6 / 9]])
    assert found.min() > 0


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("documents", [False, True])
def test_a_plain_loop(holes: bool, documents: bool) -> None:
    rng = np.random.default_rng(4)
    gold, metric = rng.normal(size=(4, 12)).round(1), rng.normal(size=(4, 12)).round(1)
    if holes:
        gold[rng.random(gold.shape) < 0.2] = NAN
        metric[rng.random(metric.shape) < 0.1] = NAN
    units = np.arange(12) // 3 if documents else np.arange(12)
    flips = draw_flips(int(units.max()) + 1, 99, seed=2)
    found = soft_accuracy(gold, metric, units, flips)
    assert found.accuracy == pytest.approx(loop(gold, metric, units, flips), abs=1e-12)
    assert (found.pairs, found.missing) == (6, 0)


def test_invariances() -> None:
    rng = np.random.default_rng(1)
    gold, metric = rng.integers(0, 3, (5, 40)) * 1.0, rng.integers(0, 4, (5, 40)) * 1.0
    units, flips = np.arange(40), draw_flips(40, 200, seed=0)
    found = soft_accuracy(gold, metric, units, flips).accuracy
    order = rng.permutation(5)
    assert soft_accuracy(gold[order], metric[order], units, flips).accuracy == pytest.approx(found, abs=1e-12)
    assert soft_accuracy(gold, 0.1 * metric - 3, units, flips).accuracy == pytest.approx(found, abs=1e-12)
    assert soft_accuracy(gold, 7 * gold + 1, units, flips).accuracy == pytest.approx(1.0, abs=1e-12)
    assert soft_accuracy(gold, metric, units, draw_flips(40, 200, seed=0)).accuracy == found
    # Another order of segments is another draw: it moves the value by Monte Carlo error only.
    shuffled = rng.permutation(40)
    assert soft_accuracy(gold[:, shuffled], metric[:, shuffled], units, flips).accuracy == pytest.approx(
        found, abs=0.05
    )


def test_degenerate() -> None:
    gold = np.random.default_rng(0).normal(size=(3, 50))
    flips = draw_flips(50, 100, seed=0)
    # A metric that never decides is as unsure one way as the other.
    assert soft_accuracy(gold, np.ones_like(gold), np.arange(50), flips).accuracy == pytest.approx(
        0.5, abs=0.02
    )
    assert soft_accuracy(gold[:1], gold[:1], np.arange(50), flips).accuracy is None
    nothing = soft_accuracy(gold, np.full_like(gold, NAN), np.arange(50), flips)
    assert (nothing.accuracy, nothing.pairs, nothing.missing) == (None, 0, 3)


def test_flips_are_fair_and_come_in_chunks() -> None:
    flips = draw_flips(30, 4000, seed=3)
    assert set(np.unique(flips)) == {-1, 1}
    assert abs(flips.mean()) < 0.01
    parts = list(flip_chunks(flips, 1 << 21))
    assert len(parts) > 1
    np.testing.assert_array_equal(np.vstack([chunk for _, chunk in parts]), flips)
    sums = unit_sums(np.array([[1.0, 2.0, 4.0]]), np.array([1, 0, 1]), 3)
    np.testing.assert_array_equal(sums, [[2.0], [5.0], [0.0]])


@pytest.mark.data
def test_wmt23(data: Path) -> None:
    """Close to the published algorithm (other permutations, p = k / B), which gave these with its seed 4."""
    board = read_benchmark(data / "wmt23", "en-de", "mqm", ["GEMBA-MQM", "COMET", "chrF", "BLEU"])
    flips = draw_flips(557, 1000, seed=0)
    theirs = {"GEMBA-MQM": 0.9819, "COMET": 0.9603, "chrF": 0.8366, "BLEU": 0.8572}
    for metric in board.metrics:
        found = soft_accuracy(board.gold.segments, metric.segments, board.segment_units(), flips)
        assert found.accuracy == pytest.approx(theirs[metric.name], abs=0.003)
        assert (found.pairs, found.missing) == (66, 0)
