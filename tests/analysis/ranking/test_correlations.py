from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, pearsonr, spearmanr

from analysis.ranking.benchmark import read_benchmark
from analysis.ranking.correlations import correlate, mean_correlations

NAN = float("nan")
SCIPY = {"pearson": pearsonr, "spearman": spearmanr, "kendall": kendalltau}


def loop(gold: np.ndarray, metric: np.ndarray, coefficient: str) -> tuple[float | None, int, int, int]:
    found, constant, too_few = [], 0, 0
    for x, y in zip(gold, metric, strict=True):
        known = ~np.isnan(x + y)
        if known.sum() < 2:
            too_few += 1
        elif len(set(x[known])) == 1 or len(set(y[known])) == 1:
            constant += 1
        else:
            found.append(SCIPY[coefficient](x[known], y[known])[0])
    return (float(np.mean(found)) if found else None), len(found), constant, too_few


@pytest.mark.parametrize("width", [5, 100])
@pytest.mark.parametrize("coefficient", SCIPY)
def test_rows_against_scipy(width: int, coefficient: str) -> None:
    rng = np.random.default_rng(width)
    gold = rng.integers(-3, 3, (12, width)) * 1.0
    metric = gold + rng.integers(-3, 3, gold.shape)
    gold[rng.random(gold.shape) < 0.2] = NAN
    metric[rng.random(gold.shape) < 0.1] = NAN
    gold[0], metric[1], gold[2, 1:] = 2.0, 3.0, NAN
    value, groups, constant, too_few = loop(gold, metric, coefficient)
    found = mean_correlations(gold, metric)
    assert getattr(found, coefficient) == pytest.approx(value, abs=1e-12)
    assert (found.groups, found.constant, found.too_few) == (groups, constant, too_few)
    assert too_few >= 1 and constant >= 2


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=12))
def test_one_group_against_scipy(cells: list[tuple[int, int]]) -> None:
    x, y = np.array(cells, dtype=float).T
    found = correlate(x, y)
    for coefficient in SCIPY:
        value = loop(x[None], y[None], coefficient)[0]
        assert getattr(found, coefficient) == (None if value is None else pytest.approx(value, abs=1e-9))
    scaled = correlate(x, 0.3 * y - 7)
    assert (scaled.groups, scaled.constant) == (found.groups, found.constant)
    if found.kendall is not None:
        assert scaled.kendall == pytest.approx(found.kendall, abs=1e-12)
        assert scaled.spearman == pytest.approx(found.spearman, abs=1e-12)


def test_rounding_does_not_break_ties_or_constants() -> None:
    noisy = np.array([0.3, 0.1 + 0.2, 1.0])
    clean = np.array([0.3, 0.3, 1.0])
    other = np.array([1.0, 2.0, 3.0])
    assert correlate(noisy, other) == correlate(clean, other)
    constant = correlate(noisy[:2], other[:2])
    assert (constant.pearson, constant.kendall, constant.constant) == (None, None, 1)
    assert correlate(np.array([1.0]), np.array([1.0])).too_few == 1
    assert mean_correlations(np.empty((3, 0)), np.empty((3, 0))).too_few == 3


def test_perfect_is_exactly_one() -> None:
    found = correlate(np.arange(12.0), np.arange(12.0) ** 3)
    assert (found.spearman, found.kendall) == (1.0, 1.0)


@pytest.mark.data
def test_wmt23(data: Path) -> None:
    board = read_benchmark(data / "wmt23", "en-de", "mqm", ["COMET", "GEMBA-MQM"])
    comet, gemba = board.metrics
    assert correlate(board.gold.system, gemba.system).kendall == 1.0
    assert correlate(board.gold.system, comet.system).kendall == pytest.approx(2 * 64 / 66 - 1)
    gold = board.gold.segments
    known = ~np.isnan(gold)
    rounded = np.round(gold, 6)
    pooled = correlate(gold, comet.segments)
    by_item, by_system = mean_correlations(gold.T, comet.segments.T), mean_correlations(gold, comet.segments)
    for coefficient, function in SCIPY.items():
        value = function(rounded[known], comet.segments[known])[0]
        assert getattr(pooled, coefficient) == pytest.approx(value, abs=1e-9)
        value = loop(rounded.T, comet.segments.T, coefficient)[0]
        assert getattr(by_item, coefficient) == pytest.approx(value, abs=1e-9)
        value = loop(rounded, comet.segments, coefficient)[0]
        assert getattr(by_system, coefficient) == pytest.approx(value, abs=1e-9)
    assert (by_item.groups, by_item.constant, by_item.too_few) == (451, 9, 97)
    assert (by_system.groups, by_system.constant) == (12, 0)
