"""Shares of wins: counts, Wilson's interval, and Wilson's interval for pairs that share segments."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from analysis.statistics.estimates import cluster_mean
from analysis.statistics.shares import cluster_wilson, count_wins, wilson


@pytest.mark.parametrize(("wins", "n"), [(0, 1), (1, 1), (0, 40), (13, 40), (40, 40), (894, 979)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_wilson_equals_statsmodels(wins: int, n: int, level: float) -> None:
    expected = proportion_confint(wins, n, alpha=1 - level, method="wilson")
    assert wilson(wins, n, level) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("wins", "n"), [(0, 0), (3, 2), (-1, 2)])
def test_wilson_refuses_what_is_no_share(wins: int, n: int) -> None:
    with pytest.raises(ValueError, match="no share"):
        wilson(wins, n)


@pytest.mark.data
def test_detection_cases(cases: Path) -> None:
    for case in json.loads((cases / "statistics" / "detection.json").read_text(encoding="utf-8")):
        original, perturbed = (
            np.array(case[side], dtype=float) * (-1 if case.get("metric") == "lower is better" else 1)
            for side in ("original", "perturbed")
        )
        deltas = original - perturbed
        counts = count_wins(deltas[~np.isnan(deltas)], 1e-9)
        found = {
            "wins": counts.wins,
            "ties": counts.ties,
            "losses": counts.losses,
            "missing": cluster_mean(deltas).missing,
            "delta": cluster_mean(deltas).mean,
        }
        expected = {key: value for key, value in case["right"].items() if key != "why"}
        assert {key: found[key] for key in expected} == expected


@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_with_a_pair_a_segment_it_is_wilsons_interval(wins: list[bool]) -> None:
    array = np.array(wins)
    plain = wilson(sum(wins), len(wins))
    assert cluster_wilson(array, np.arange(len(wins))) == pytest.approx(plain, abs=1e-12)


@given(st.lists(st.booleans(), min_size=2, max_size=40), st.integers(2, 5))
def test_copies_of_every_pair_add_no_knowledge(wins: list[bool], copies: int) -> None:
    """k copies of n segments: n effective trials, but for the quantiles of n - 1 and k n - 1 degrees."""
    n = len(wins)
    low, high = cluster_wilson(np.repeat(wins, copies), np.repeat(np.arange(n), copies))
    if any(wins) and not all(wins):
        effect = (n * copies - 1) / (n - 1)
        ratio = stats.t.ppf(0.975, n - 1) / stats.t.ppf(0.975, n * copies - 1)
        trials = n * copies / (effect * ratio**2)
        expected = proportion_confint(sum(wins) / n * trials, trials, alpha=0.05, method="wilson")
        assert (low, high) == pytest.approx(expected, abs=1e-9)
    else:
        assert (low, high) == pytest.approx(wilson(sum(wins), n), abs=1e-12)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=1, max_size=40))
def test_it_is_never_narrower_than_independent_trials_and_holds_the_share(
    pairs: list[tuple[bool, int]],
) -> None:
    wins = np.array([win for win, _ in pairs])
    low, high = cluster_wilson(wins, [cluster for _, cluster in pairs])
    plain_low, plain_high = wilson(int(wins.sum()), wins.size)
    assert high - low >= plain_high - plain_low - 1e-12
    assert 0.0 <= low <= wins.mean() <= high <= 1.0
    assert not math.isnan(low + high)
