"""Checks of the figures printed in the minimal-pair study, with our own corrections and formulas."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from analysis.statistics.significance import (
    benjamini_hochberg,
    holm,
    log10_chi2_sf,
    log10_p_two_sided,
    p_text,
    stars,
)

pytestmark = pytest.mark.data
Table = dict[str, dict[str, dict[str, Any]]]


@pytest.fixture(scope="module")
def published(data: Path) -> dict[str, Any]:
    return json.loads((data / "published" / "minimal_pairs.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def table2(published: dict[str, Any]) -> Table:
    return published["table2_all_texts"]


@pytest.fixture(scope="module")
def valid(published: dict[str, Any]) -> dict[str, int]:
    """Pairs per category that both annotators called valid: those that the table rests on."""
    return {
        row["category"]: row["both_valid"]
        for row in published["table7_agreement"]
        if row["category"] in published["table2_all_texts"]["COMET"]
    }


def z_log10_p(cell: dict[str, Any]) -> float:
    return log10_p_two_sided(cell["mean"] / cell["se"], math.inf)


def test_the_table_rests_on_1088_pairs(valid: dict[str, int]) -> None:
    assert len(valid) == 11
    assert sum(valid.values()) == 1088


def test_every_row_is_centred_on_the_metrics_own_mean(table2: Table, valid: dict[str, int]) -> None:
    """The count-weighted mean of each metric's row is 0: signs are relative to its average reaction."""
    assert len(table2) == 13
    for metric, row in table2.items():
        mean = sum(valid[name] * cell["mean"] for name, cell in row.items()) / 1088
        assert abs(mean) < 0.005, metric
    # With other counts it is not: equal ones leave most rows far from 0.
    assert max(abs(sum(cell["mean"] for cell in row.values()) / 11) for row in table2.values()) > 0.05


def test_standard_errors_are_those_of_a_fit_per_metric(table2: Table, valid: dict[str, int]) -> None:
    """z-scored deltas have total variance 1, which the categories' means take their share of."""
    ratios = []
    for row in table2.values():
        residual = 1.0 - sum(valid[name] * cell["mean"] ** 2 for name, cell in row.items()) / 1088
        ratios += [cell["se"] / math.sqrt(residual / valid[name]) for name, cell in row.items()]
    within = [abs(ratio - 1.0) < 0.02 for ratio in ratios]
    assert (len(ratios), sum(within)) == (143, 121)
    assert max(abs(ratio - 1.0) for ratio in ratios) < 0.065


def test_standard_errors_are_not_those_of_one_joint_model(table2: Table, valid: dict[str, int]) -> None:
    """One model has one residual variance: all metrics would have the same error in a column."""
    for name in valid:
        column = [row[name]["se"] for row in table2.values()]
        assert max(column) / min(column) > 2.0


def test_how_many_significant_cells_survive_a_correction(table2: Table) -> None:
    log10_p: list[float | None] = [z_log10_p(cell) for row in table2.values() for cell in row.values()]
    counts = [
        sum(bool(stars(p)) for p in found) for found in (log10_p, holm(log10_p), benjamini_hochberg(log10_p))
    ]
    assert (len(log10_p), counts) == (143, [106, 80, 104])


def test_eight_stars_do_not_follow_from_mean_and_error(table2: Table) -> None:
    wrong = [
        (metric, name)
        for metric, row in table2.items()
        for name, cell in row.items()
        if len(stars(z_log10_p(cell))) != cell["stars"]
    ]
    assert len(wrong) == 8
    assert ("BLEU", "name_format") in wrong


def test_p_values_of_the_interactions(published: dict[str, Any]) -> None:
    period = published["interaction_metric_period"]
    log10_p = log10_chi2_sf(period["chi2"], period["df"])
    assert p_text(log10_p) == "5.3e-8"
    assert 10**log10_p < period["p_as_printed"]
    condition = published["interaction_condition_metric"]
    assert log10_chi2_sf(condition["chi2"], condition["df"]) == pytest.approx(-1109.3, abs=0.1)
