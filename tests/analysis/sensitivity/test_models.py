"""The three models of the table, what they say of one another, and what centring would have changed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from statsmodels.regression.mixed_linear_model import MixedLM
from statsmodels.stats.multitest import multipletests

from analysis.mixed.interaction import factor_tests, interaction_tests
from analysis.sensitivity.cells import FEW_REACTIONS, Cell
from analysis.sensitivity.deltas import DeltaTable, read_deltas, read_deltas_by
from analysis.sensitivity.layout import as_report
from analysis.sensitivity.models import metric_by_level
from analysis.sensitivity.options import Correction, Model, SensitivityOptions
from analysis.sensitivity.scaling import Standardization
from analysis.sensitivity.scores import PairScores
from analysis.sensitivity.table import SensitivityTable, scale, sensitivity
from analysis.statistics.bootstrap_t import bootstrap_t
from challenge_sets import ChallengeSet, InputError

Make = Callable[..., Any]
Sample = tuple[list[Any], list[Any]]


def read(paths: tuple[Path, Path]) -> DeltaTable:
    opened = ChallengeSet(paths[0])
    return read_deltas(opened, PairScores(paths[1], opened))


def by_key(table: SensitivityTable) -> dict[tuple[str, str], Cell]:
    return {(cell.label, cell.category): cell for cell in table.cells}


@pytest.fixture
def deltas(write: Make, sample: Sample) -> DeltaTable:
    return read(write(*sample))


def long_rows(deltas: DeltaTable, labels: list[str]) -> tuple[Any, ...]:
    """Standardised deltas of errors and variations in long form, spelled out apart from the package."""
    values, cells, metrics, categories, segments = [], [], [], [], []
    for place, entry in enumerate(deltas.metrics):
        if entry.label not in labels:
            continue
        groups = [cell.deltas for (kind, _), cell in entry.cells.items() if kind != "control"]
        squares = sum(((group - group.mean()) ** 2).sum() for group in groups)
        sd = math.sqrt(squares / sum(group.size - 1 for group in groups))
        for number, ((kind, category), cell) in enumerate(entry.cells.items()):
            if kind == "control":
                continue
            values.append(cell.deltas / sd)
            cells += [(entry.label, category)] * cell.deltas.size
            metrics.append(np.full(cell.deltas.size, place))
            categories.append(np.full(cell.deltas.size, number))
            segments.append(cell.segments)
    joined = (np.concatenate(column) for column in (values, metrics, categories, segments))
    return (cells, *joined)


@pytest.mark.filterwarnings("ignore:The MLE may be on the boundary")
@pytest.mark.parametrize(
    ("model", "groups"), [(Model.JOINT, [["chrf", "comet"]]), (Model.PER_METRIC, [["chrf"], ["comet"]])]
)
def test_the_mixed_models_equal_statsmodels(
    deltas: DeltaTable, model: Model, groups: list[list[str]]
) -> None:
    found = by_key(sensitivity(deltas, SensitivityOptions(model=model)))
    for labels in groups:
        cells, values, _, _, segments = long_rows(deltas, labels)
        names = sorted(set(cells))
        design = np.array([[name == cell for name in names] for cell in cells], dtype=float)
        fit = MixedLM(values, design, groups=segments).fit(reml=True, method="powell")
        for place, name in enumerate(names):
            assert found[name].mean == pytest.approx(fit.fe_params[place], abs=1e-5)
            assert found[name].se == pytest.approx(fit.bse_fe[place], rel=2e-3)


def test_one_model_has_one_error_for_cells_of_one_size(deltas: DeltaTable) -> None:
    """40 pairs in every cell: one residual variance for all, or one a metric."""
    raw = Standardization.RAW
    joint = sensitivity(deltas, SensitivityOptions(raw, model=Model.JOINT)).cells
    single = sensitivity(deltas, SensitivityOptions(raw, model=Model.PER_METRIC)).cells

    def errors(cells: tuple[Cell, ...]) -> set[float]:
        modelled = (cell for cell in cells if cell.kind != "control" and not cell.sentinel)
        return {round(cell.se or 0.0, 12) for cell in modelled}

    assert (len(errors(joint)), len(errors(single))) == (1, 2)


def test_controls_and_baselines_stand_for_themselves(deltas: DeltaTable) -> None:
    """Under any model: they would set the variance of everything else."""
    tables = [sensitivity(deltas, SensitivityOptions(model=model)).cells for model in Model]
    for cells in zip(*tables, strict=True):
        if cells[0].kind == "control":
            assert len({(cell.mean, cell.se, cell.df) for cell in cells}) == 1
    baselines = [[cell.se for cell in cells if cell.sentinel] for cells in tables]
    assert baselines[0] == baselines[1] == baselines[2]


def test_every_cell_knows_the_other_models_verdicts(deltas: DeltaTable) -> None:
    tables = {model: by_key(sensitivity(deltas, SensitivityOptions(model=model))) for model in Model}
    for key, cell in tables[Model.CELLS].items():
        expected = {str(model): table[key].verdict for model, table in tables.items()}
        assert cell.verdict_by_model == tables[Model.JOINT][key].verdict_by_model == expected
        assert cell.models_disagree == (len(set(expected.values())) > 1)


def test_a_mixed_model_without_variance_leaves_the_cells_to_themselves(
    write: Make, row: Make, about: Make
) -> None:
    rows = [row(str(i), "typo", "error", {0: (2.0, 1.0)}) for i in range(4)]
    (cell,) = sensitivity(read(write(rows, [about("chrf")])), SensitivityOptions(model=Model.JOINT)).cells
    assert cell.verdict == "degenerate"


def test_interaction_is_that_of_the_long_table(deltas: DeltaTable) -> None:
    table = sensitivity(deltas, SensitivityOptions())
    _, values, metrics, categories, segments = long_rows(deltas, ["chrf", "comet"])
    expected = interaction_tests(values, categories, metrics, segments)
    assert table.interaction.model.lr is not None and expected.lr is not None
    assert table.interaction.model.lr.df == expected.lr.df == 3
    assert table.interaction.model.lr.chi2 == pytest.approx(expected.lr.chi2)
    assert table.interaction.robust.df1 == 3


def test_one_metric_has_no_interaction(write: Make, row: Make, about: Make) -> None:
    rows = [row(str(i), "typo", "error", {0: (float(i % 3), 0.0)}) for i in range(6)]
    table = sensitivity(read(write(rows, [about("chrf")])), SensitivityOptions())
    assert table.interaction.model.lr is None and "too few levels" in table.interaction.model.reason
    assert table.interaction.robust.f is None and table.interaction.robust.reason


def test_centring_turns_detected_errors_into_reversed_ones(write: Make, row: Make, about: Make) -> None:
    """Two errors that every pair detects: the smaller lies below the metric's own mean."""
    rng = np.random.default_rng(2)
    rows = [
        row(f"{category}{i}", category, "error", {0: (effect + rng.normal(), 0.0)})
        for category, effect in (("large", 9.0), ("small", 3.0))
        for i in range(60)
    ]
    cells = by_key(sensitivity(read(write(rows, [about("chrf")])), SensitivityOptions()))
    large, small = cells["chrf", "large"], cells["chrf", "small"]
    assert (large.verdict, large.verdict_if_centred, large.centring_changes) == (
        "detected",
        "detected",
        False,
    )
    assert (small.verdict, small.verdict_if_centred, small.centring_changes) == ("detected", "reversed", True)


def test_bh_is_benjamini_hochbergs_within_the_family(deltas: DeltaTable) -> None:
    table = sensitivity(deltas, SensitivityOptions(correction=Correction.BH))
    family = [cell for cell in table.cells if cell.kind == "error" and not cell.sentinel]
    expected = multipletests([10**cell.log10_p for cell in family], method="fdr_bh")[1]  # type: ignore[operator]
    assert [10**cell.log10_p_adjusted for cell in family] == pytest.approx(list(expected))  # type: ignore[operator]


def test_spread_is_in_sds_of_the_original_outputs(write: Make, row: Make, about: Make) -> None:
    """Several pairs of one output count it once."""
    rng = np.random.default_rng(4)
    originals = rng.normal(50, 8, 30)
    rows = [
        row(str(i), category, "error", {0: (original, original - 2.0 - rng.normal())})
        for i, original in enumerate(originals)
        for category in ("typo", "number")
    ]
    deltas = read(write(rows, [about("chrf")]))
    cell = by_key(sensitivity(deltas, SensitivityOptions(Standardization.SPREAD)))["chrf", "typo"]
    raw = deltas.metrics[0].cells["error", "typo"].deltas
    assert deltas.metrics[0].original_sd == pytest.approx(originals.std(ddof=1))
    assert cell.mean == pytest.approx(raw.mean() / originals.std(ddof=1))


def test_unreliable_are_warned_of_and_the_bootstrap_stands_beside(
    write: Make, row: Make, about: Make
) -> None:
    rng = np.random.default_rng(5)
    rows = [
        row(str(i), "typo", "error", {0: (1.0 + rng.random() if i % 5 == 0 else 0.0, 0.0)}) for i in range(60)
    ]
    deltas = read(write(rows, [about("judge")]))
    cell = sensitivity(deltas, SensitivityOptions()).cells[0]
    assert (cell.reacting, cell.zero_share, cell.unreliable) == (12, 0.8, True)
    assert cell.reacting < FEW_REACTIONS
    part = deltas.metrics[0].cells["error", "typo"]
    expected = bootstrap_t(part.deltas, part.segments, rng=np.random.default_rng(0))
    assert expected is not None
    assert cell.bootstrap_t_log10_p == pytest.approx(expected.log10_p())
    chosen = sensitivity(deltas, SensitivityOptions(bootstrap_t=True)).cells[0]
    assert chosen.log10_p == cell.bootstrap_t_log10_p != cell.log10_p


def test_many_reactions_need_no_bootstrap(deltas: DeltaTable) -> None:
    cell = by_key(sensitivity(deltas, SensitivityOptions()))["chrf", "negation"]
    assert (cell.unreliable, cell.bootstrap_t_log10_p) == (False, None)


def test_parts_by_a_factor_share_one_scale(write: Make, sample: Sample) -> None:
    rows, metrics = sample
    rows = [replace(row, lang="de" if int(row.item[4:]) % 2 else "en") for row in rows]
    paths = write(rows, [*metrics, replace(metrics[0], name="bleu", target_lang="de")])
    opened = ChallengeSet(paths[0])
    whole, parts = read_deltas_by(opened, PairScores(paths[1], opened), "target_lang")
    assert list(parts) == ["de", "en"]
    for place, entry in enumerate(whole.metrics):
        for key, cell in entry.cells.items():
            split = [
                part.metrics[place].cells[key].deltas
                for part in parts.values()
                if key in part.metrics[place].cells
            ]
            assert sorted(np.concatenate(split)) == pytest.approx(sorted(cell.deltas))
    options = SensitivityOptions()
    tables = [sensitivity(part, options, scale_from=whole) for part in parts.values()]
    for place, entry in enumerate(sensitivity(whole, options).metrics):
        assert {table.metrics[place].scaling.divisor for table in tables} == {entry.scaling.divisor}


def test_the_factors_interaction_is_that_of_the_long_table(write: Make, sample: Sample) -> None:
    rows, metrics = sample
    rows = [replace(row, lang="de" if int(row.item[4:]) % 2 else "en") for row in rows]
    paths = write(rows, metrics)
    opened = ChallengeSet(paths[0])
    whole, parts = read_deltas_by(opened, PairScores(paths[1], opened), "target_lang")
    found = metric_by_level([scale(part, Standardization.SCALE, whole) for part in parts.values()])
    _, values, metric, category, segments = long_rows(whole, ["chrf", "comet"])
    items = {number: int(row.item[4:]) % 2 for number, row in enumerate_items(rows)}
    level = np.array([items[int(segment)] for segment in segments])
    expected = factor_tests(values, category, metric, level, segments)
    assert found.lr is not None and expected.lr is not None
    assert (found.lr.df, found.lr.chi2) == (1, pytest.approx(expected.lr.chi2))


def enumerate_items(rows: list[Any]) -> list[tuple[int, Any]]:
    """Segments are numbered in the order of the pairs' names."""
    numbers: dict[str, int] = {}
    found = []
    for row in sorted(rows, key=lambda row: row.name):
        number = numbers.setdefault(row.item, len(numbers))
        found.append((number, row))
    return found


def test_a_factor_that_is_not_there_is_refused(write: Make, sample: Sample) -> None:
    paths = write(*sample)
    opened = ChallengeSet(paths[0])
    with pytest.raises(InputError, match="has no 'period'"):
        read_deltas_by(opened, PairScores(paths[1], opened), "period")


def test_unequal_spreads_are_warned_of(write: Make, row: Make, about: Make) -> None:
    rng = np.random.default_rng(6)
    rows = [
        row(f"{category}{i}", category, "error", {0: (spread * rng.normal(), 0.0)})
        for category, spread in (("wide", 5.0), ("narrow", 1.0))
        for i in range(60)
    ]
    rows += [row(f"few{i}", "few", "error", {0: (100.0 * i, 0.0)}) for i in range(3)]
    deltas = read(write(rows, [about("chrf")]))
    table = sensitivity(deltas, SensitivityOptions())
    cells = deltas.metrics[0].cells
    spreads = [cells["error", name].deltas.std(ddof=1) for name in ("wide", "narrow")]
    assert table.uneven is not None
    assert (table.uneven.smallest, table.uneven.largest) == ("chrf, narrow", "chrf, wide")
    assert table.uneven.largest_sd / table.uneven.smallest_sd == pytest.approx(spreads[0] / spreads[1])
    assert any(note.startswith("SDs of cells range from") for note in as_report(table).notes)
    even = sensitivity(read(write(rows[:60], [about("chrf")], name="even")), SensitivityOptions())
    assert even.uneven is None


def test_skewed_deltas_are_warned_of(write: Make, row: Make, about: Make) -> None:
    """One large reaction for every nine small ones the other way: 60 segments react, 300 are not enough."""
    effects = [9.0 if i % 10 == 0 else -1.0 for i in range(60)] + [0.0] * 240
    rows = [row(str(i), "typo", "error", {0: (effect, 0.0)}) for i, effect in enumerate(effects)]
    deltas = read(write(rows, [about("judge")]))
    cell = sensitivity(deltas, SensitivityOptions()).cells[0]
    skewness = stats.skew(effects)
    assert 25 * skewness**2 > 300
    assert (cell.reacting, cell.unreliable) == (60, True)
    # The interval goes by the bootstrap where the test does, in the model that it is made for.
    chosen = sensitivity(deltas, SensitivityOptions(bootstrap_t=True)).cells[0]
    part = deltas.metrics[0].cells["error", "typo"]
    expected = bootstrap_t(part.deltas, part.segments, rng=np.random.default_rng(0))
    assert expected is not None
    sd = part.deltas.std(ddof=1)
    assert (chosen.low, chosen.high) == pytest.approx([end / sd for end in expected.interval(0.95)])  # type: ignore[operator]
    joint = sensitivity(deltas, SensitivityOptions(bootstrap_t=True, model=Model.JOINT)).cells[0]
    assert joint.log10_p == sensitivity(deltas, SensitivityOptions(model=Model.JOINT)).cells[0].log10_p
