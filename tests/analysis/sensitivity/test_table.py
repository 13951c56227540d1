"""The sensitivity table: families, verdicts, standardisation and its invariants."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from analysis.sensitivity.cells import Cell
from analysis.sensitivity.deltas import DeltaTable, MetricDeltas, read_deltas
from analysis.sensitivity.options import SensitivityOptions
from analysis.sensitivity.scaling import Standardization
from analysis.sensitivity.scores import PairScores
from analysis.sensitivity.table import SensitivityTable, sensitivity
from challenge_sets import BLIND, ChallengeSet, InputError

Make = Callable[..., Any]
Sample = tuple[list[Any], list[Any]]
PLAIN = SensitivityOptions()


def read(paths: tuple[Path, Path]) -> DeltaTable:
    opened = ChallengeSet(paths[0])
    return read_deltas(opened, PairScores(paths[1], opened))


def by_key(table: SensitivityTable) -> dict[tuple[str, str], Cell]:
    return {(cell.label, cell.category): cell for cell in table.cells}


@pytest.fixture
def deltas(write: Make, sample: Sample) -> DeltaTable:
    return read(write(*sample))


def test_verdicts_follow_the_effects_built_in(deltas: DeltaTable) -> None:
    cells = by_key(sensitivity(deltas, PLAIN))
    assert {key: str(cell.verdict) for key, cell in cells.items() if not cell.sentinel} == {
        ("chrf", "negation"): "detected",
        ("chrf", "number"): "inconclusive",
        ("chrf", "name format"): "inconclusive",
        ("chrf", "segmentation"): "inconclusive",
        ("chrf", "identity"): "degenerate",
        ("chrf", "shuffled words"): "scores lower",
        ("comet", "negation"): "inconclusive",
        ("comet", "number"): "reversed",
        ("comet", "name format"): "penalised",
        ("comet", "segmentation"): "penalised",
        ("comet", "identity"): "degenerate",
        ("comet", "shuffled words"): "scores lower",
    }
    wide = by_key(sensitivity(deltas, SensitivityOptions(margin_sd=1.5)))
    assert wide["chrf", "number"].verdict == wide["comet", "negation"].verdict == "insensitive"
    assert wide["chrf", "segmentation"].verdict == "tolerated"
    assert wide["comet", "segmentation"].verdict == "tolerated (different but negligible)"


def test_a_cell_equals_scipy(deltas: DeltaTable) -> None:
    """One pair a segment: the ordinary t-test of the deltas, in SDs pooled within categories."""
    chrf = deltas.metrics[0]
    cell = by_key(sensitivity(deltas, PLAIN))["chrf", "negation"]
    groups = [part.deltas for (kind, _), part in chrf.cells.items() if kind != "control"]
    sd = math.sqrt(sum(((g - g.mean()) ** 2).sum() for g in groups) / sum(g.size - 1 for g in groups))
    values = chrf.cells["error", "negation"].deltas / sd
    test = stats.ttest_1samp(values, 0.0)
    assert (cell.n, cell.segments, cell.df) == (40, 40, pytest.approx(39))
    assert cell.mean == pytest.approx(values.mean())
    assert cell.se == pytest.approx(stats.sem(values))
    assert (cell.low, cell.high) == pytest.approx(tuple(test.confidence_interval(0.95)))
    assert cell.t == pytest.approx(test.statistic)
    assert cell.log10_p == pytest.approx(math.log10(test.pvalue))
    assert cell.wins + cell.ties + cell.losses == 40


def test_families(deltas: DeltaTable) -> None:
    table = sensitivity(deltas, PLAIN)
    for kind, test, adjusted in (
        ("error", "log10_p", "log10_p_adjusted"),
        ("error", "tost_log10_p", "tost_log10_p_adjusted"),
        ("variation", "log10_p", "log10_p_adjusted"),
        ("variation", "tost_log10_p", "tost_log10_p_adjusted"),
    ):
        family = [cell for cell in table.cells if cell.kind == kind and not cell.sentinel]
        expected = multipletests([10 ** getattr(cell, test) for cell in family], method="holm")[1]
        assert [10 ** getattr(cell, adjusted) for cell in family] == pytest.approx(list(expected))
    apart = [cell for cell in table.cells if cell.kind == "control" or cell.sentinel]
    assert {(cell.log10_p_adjusted, cell.tost_log10_p_adjusted) for cell in apart} == {(None, None)}
    assert all(cell.p == cell.log10_p for cell in apart)


def test_controls_have_no_equivalence_test(deltas: DeltaTable) -> None:
    for cell in sensitivity(deltas, PLAIN).cells:
        assert (cell.margin is None) == (cell.tost_log10_p is None) == (cell.kind == "control")


def test_zscore_centres_each_metric_but_no_verdict(deltas: DeltaTable) -> None:
    """A centred mean says nothing of zero: verdicts stay those of the table that is not centred."""
    table = sensitivity(deltas, SensitivityOptions(Standardization.ZSCORE))
    for name in ("chrf", "comet"):
        cells = [cell for cell in table.cells if cell.label == name and cell.kind != "control"]
        assert sum(cell.n * (cell.mean or 0) for cell in cells) == pytest.approx(0, abs=1e-9)
    assert all(cell.margin is None and cell.tost_log10_p is None for cell in table.cells)
    plain = sensitivity(deltas, PLAIN)
    assert [cell.verdict for cell in table.cells] == [cell.verdict for cell in plain.cells]
    assert [cell.mean for cell in table.cells] != [cell.mean for cell in plain.cells]


def test_raw_is_in_metric_units_with_a_margin_of_its_own(deltas: DeltaTable) -> None:
    raw = by_key(sensitivity(deltas, SensitivityOptions(Standardization.RAW)))
    scaled = by_key(sensitivity(deltas, PLAIN))
    comet = deltas.metrics[1].cells["variation", "segmentation"].deltas
    cell = raw["comet", "segmentation"]
    assert cell.mean == pytest.approx(comet.mean())
    assert cell.tost_log10_p == pytest.approx(scaled["comet", "segmentation"].tost_log10_p)
    given_margin = SensitivityOptions(Standardization.RAW, margin=12.0)
    assert by_key(sensitivity(deltas, given_margin))["comet", "segmentation"].margin == 12.0


@pytest.mark.parametrize("method", list(Standardization))
def test_no_number_is_nan(deltas: DeltaTable, method: Standardization) -> None:
    for cell in sensitivity(deltas, SensitivityOptions(method)).cells:
        for value in asdict(cell).values():
            assert not isinstance(value, float) or math.isfinite(value)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(factor=st.floats(1e-6, 1e6), method=st.sampled_from([Standardization.SCALE, Standardization.ZSCORE]))
def test_another_unit_of_a_metric_changes_nothing(
    deltas: DeltaTable, factor: float, method: Standardization
) -> None:
    def stretched(entry: MetricDeltas) -> MetricDeltas:
        return replace(
            entry,
            metric=replace(entry.metric, tie_threshold=entry.metric.tie_threshold * factor),
            cells={key: replace(cell, deltas=cell.deltas * factor) for key, cell in entry.cells.items()},
            noise=entry.noise * factor,
        )

    options = SensitivityOptions(method)
    before = sensitivity(deltas, options)
    after = sensitivity(replace(deltas, metrics=tuple(map(stretched, deltas.metrics))), options)
    assert_same(before, after)


def test_order_of_rows_changes_nothing(write: Make, sample: Sample) -> None:
    plain = sensitivity(read(write(*sample)), PLAIN)
    assert sensitivity(read(write(*sample, shuffle=11)), PLAIN) == plain


def test_order_of_pairs_and_names_of_systems_change_nothing(write: Make, sample: Sample) -> None:
    rows, metrics = sample
    renamed = [replace(row, system="renamed") for row in reversed(rows)]
    assert_same(
        sensitivity(read(write(rows, metrics, name="one")), PLAIN),
        sensitivity(read(write(renamed, metrics, name="other")), PLAIN),
    )


def assert_same(one: SensitivityTable, other: SensitivityTable) -> None:
    for a, b in zip(one.cells, other.cells, strict=True):
        assert (a.label, a.category, a.verdict, a.wins, a.ties, a.losses) == (
            b.label,
            b.category,
            b.verdict,
            b.wins,
            b.ties,
            b.losses,
        )
        numbers = [[value for value in asdict(cell).values() if isinstance(value, float)] for cell in (a, b)]
        np.testing.assert_allclose(numbers[0], numbers[1], rtol=1e-9, atol=1e-12)


def test_several_pairs_of_one_segment_widen_the_error(write: Make, row: Make, about: Make) -> None:
    """Copies of every pair under other systems add pairs and no knowledge."""
    effects = [1.0, 2.0, 0.5, 3.0, -1.0, 2.5]
    rows = [
        row(str(item), "typo", "error", {0: (50 + effect, 50.0)}, system=system)
        for item, effect in enumerate(effects)
        for system in ("a", "b", "c")
    ]
    cell = sensitivity(read(write(rows, [about("chrf")])), SensitivityOptions(Standardization.RAW)).cells[0]
    assert (cell.n, cell.segments, cell.df) == (18, 6, pytest.approx(5))
    assert cell.se == pytest.approx(stats.sem(effects))


@pytest.mark.parametrize(
    ("scores", "verdict"),
    [
        ([BLIND, BLIND], "blind by construction"),
        ([BLIND, "failed"], "no scores"),
        (["failed", "truncated"], "no scores"),
        ([(2.0, 1.0)], "too few"),
        ([(2.0, 1.0), (3.0, 2.0), (0.0, -1.0)], "degenerate"),
        ([(0.3, 0.3), (0.3, 0.1 + 0.2), (0.7, 0.7)], "degenerate"),
    ],
)
@pytest.mark.parametrize("method", list(Standardization))
def test_cells_without_a_test(
    write: Make, row: Make, about: Make, scores: list[Any], verdict: str, method: Standardization
) -> None:
    rows = [row(str(place), "typo", "error", {0: given}) for place, given in enumerate(scores)]
    (cell,) = sensitivity(read(write(rows, [about("chrf")])), SensitivityOptions(method)).cells
    assert cell.verdict == verdict
    assert cell.pairs == cell.n + cell.missing + cell.blind == len(scores)
    assert (cell.se, cell.log10_p, cell.p, cell.low, cell.smallest_detectable) == (None,) * 5


def test_blind_pairs_are_in_no_mean_and_no_count(write: Make, row: Make, about: Make) -> None:
    rows = [row(str(i), "typo", "error", {0: (float(i), 0.0)}) for i in range(4)]
    rows += [row(f"blind{i}", "typo", "error", {0: BLIND}) for i in range(7)]
    (cell,) = sensitivity(read(write(rows, [about("chrf")])), SensitivityOptions(Standardization.RAW)).cells
    assert (cell.mean, cell.n, cell.blind) == (1.5, 4, 7)
    assert (cell.wins, cell.ties, cell.losses) == (3, 1, 0)
    assert cell.win_share == 0.75


def test_ties_go_by_the_threshold_of_the_metric(write: Make, row: Make, about: Make) -> None:
    rows = [row(str(i), "typo", "error", {0: (float(i), 0.0), 1: (float(i), 0.0)}) for i in range(4)]
    metrics = [about("chrf"), about("judge", tie_threshold=2.0)]
    cells = by_key(sensitivity(read(write(rows, metrics)), PLAIN))
    assert [cells[name, "typo"].ties for name in ("chrf", "judge")] == [1, 3]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0.0}, "alpha is 0"),
        ({"alpha": math.nan}, "alpha is nan"),
        ({"margin_sd": 0.0}, "--margin-sd is 0, an equivalence margin is a positive number"),
        ({"margin_sd": -0.2}, "a positive number"),
        ({"margin_sd": math.inf}, "a positive number"),
        ({"margin": 1.0}, "--margin is in metric units"),
        ({"margin": -1.0, "standardize": Standardization.RAW}, "a positive number"),
        ({"margin": 1.0, "margin_sd": 0.2, "standardize": Standardization.RAW}, "give one"),
    ],
)
def test_options_out_of_range(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        SensitivityOptions(**options)
