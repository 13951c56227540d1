"""The model of a table: what is left out, what is listed, levels of a factor, wrong use."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from analysis.mixed.exact import fit_cells
from analysis.mixed.layout import as_document, as_records, as_report, lines
from analysis.mixed.model import Engine, MixedModel, MixedOptions, fit_mixed_model, read_mixed_table
from analysis.mixed.spread import uneven_spread
from analysis.printing.render import to_markdown
from challenge_sets import InputError
from challenge_sets.files import dump_json

Fit = Callable[..., MixedModel]
HEAD = "segment,condition,metric,delta"


@pytest.fixture
def fit(tmp_path: Path) -> Fit:
    def run(rows: Sequence[str], head: str = HEAD, **options: object) -> MixedModel:
        path = tmp_path / "deltas.csv"
        path.write_text("\n".join([head, *rows]) + "\n", "utf-8")
        wanted = MixedOptions(**options)  # type: ignore[arg-type]
        model = fit_mixed_model(read_mixed_table(path, wanted), wanted)
        # Whatever the table: everything that is written has no nan and no p of 0.
        texts = [dump_json(as_document(model)), to_markdown(as_report(model)), *lines(model)]
        assert not any(re.search(r"\bnan\b|\bp = 0(?!\.\d*[1-9])", text, re.IGNORECASE) for text in texts)
        assert all(np.isfinite(v) for row in as_records(model) for v in row.values() if isinstance(v, float))
        return model

    return run


def simulated(segments: int = 30, seed: int = 0, extra: Callable[[int], str] | None = None) -> list[str]:
    rng = np.random.default_rng(seed)
    rows = []
    for segment in range(segments):
        effect = rng.normal()
        for condition in ("tense", "title"):
            for metric in ("chrf", "comet", "judge"):
                tail = "" if extra is None else "," + extra(segment)
                rows.append(f"s{segment},{condition},{metric},{effect + rng.normal():.6f}{tail}")
    return rows


def test_the_cells_of_a_table(fit: Fit) -> None:
    model = fit(simulated(), alpha=0.1)
    assert (model.state, model.n_rows, model.missing_rows, model.n_segments) == ("ok", 180, 0, 30)
    assert [(cell.condition, cell.metric, cell.n) for cell in model.cells[:2]] == [
        ("tense", "chrf", 30),
        ("tense", "comet", 30),
    ]
    cell = model.cells[0]
    assert cell.low is not None and cell.high is not None and cell.se is not None and cell.df is not None
    from scipy.stats import t as student

    assert cell.high - cell.estimate == pytest.approx(student.ppf(0.95, cell.df) * cell.se)
    assert cell.log10_p == pytest.approx(
        np.log10(2 * student.sf(abs(cell.estimate / cell.se), cell.df)), rel=1e-9
    )
    assert model.interaction.lr is not None and model.interaction.lr.df == 2


def test_order_of_rows_and_other_names(fit: Fit) -> None:
    rows = simulated()
    one = fit(rows)
    order = np.random.default_rng(1).permutation(len(rows))
    other = fit([rows[place].replace("chrf", "zz").replace("s1", "x1") for place in order])
    found = {(cell.condition, cell.metric): cell for cell in other.cells}
    for cell in one.cells:
        same = found[cell.condition, cell.metric.replace("chrf", "zz")]
        assert (same.estimate, same.se) == pytest.approx((cell.estimate, cell.se), rel=1e-9)
    assert other.interaction.lr is not None and one.interaction.lr is not None
    assert other.interaction.lr.chi2 == pytest.approx(one.interaction.lr.chi2, abs=1e-8)


def test_missing_deltas_are_left_out_and_counted(fit: Fit) -> None:
    rows = simulated()
    full = fit(rows)
    gaps = ["s1,tense,chrf,", "s2,tense,chrf,NaN", "s900,title,judge,None"]
    model = fit(rows + gaps)
    assert (model.n_rows, model.missing_rows, model.n_segments) == (180, 3, 30)
    assert model.cells == full.cells and model.tau2 == full.tau2
    assert "3 rows have no delta" in " ".join(lines(model))


def test_a_metric_without_a_delta_is_listed(fit: Fit) -> None:
    model = fit([*simulated(), "s1,tense,bleu,", "s1,title,bleu,"])
    assert model.empty_cells == (("tense", "bleu"), ("title", "bleu"))
    rows = [row for row in simulated() if "title,judge" not in row]
    model = fit(rows)
    assert model.empty_cells == (("title", "judge"),)
    assert model.interaction.lr is not None and model.interaction.lr.df == 1
    assert "title × judge" in " ".join(lines(model))


def test_levels_of_a_factor_are_models_of_their_rows(fit: Fit) -> None:
    head = HEAD + ",period"
    rows = simulated(40, extra=lambda segment: "Qing" if segment % 2 else "Han")
    rows += ["s0,tense,chrf,,Han", "s77,tense,chrf,,Tang"]
    model = fit(rows, head, by="period")
    assert model.by_interaction is not None and model.by_interaction.lr is not None
    assert model.by_interaction.lr.df == (3 - 1) * (2 - 1)
    assert [level for level, _ in model.levels] == ["Han", "Qing"] and model.empty_levels == ("Tang",)
    assert model.missing_rows == 2
    han = dict(model.levels)["Han"]
    alone = fit([row.rsplit(",", 1)[0] for row in rows if row.endswith("Han")])
    assert (han.n_rows, han.missing_rows, han.n_segments) == (120, 1, 20)
    assert han.cells == alone.cells and han.interaction == alone.interaction
    document = as_document(model)
    assert document["levels"]["Han"]["cells"] == as_document(alone)["cells"]
    assert document["by"] == "period" and document["levels"]["Han"]["by"] is None
    assert [row["level"] for row in as_records(model)] == [None] * 6 + ["Han"] * 6 + ["Qing"] * 6
    assert "metric × period: LR (ML) chi-square(2)" in " ".join(lines(model))


def test_the_engines_agree_on_a_table(fit: Fit) -> None:
    head, rows = HEAD + ",period", simulated(60, extra=lambda segment: str(segment % 2))
    exact, other = (fit(rows, head, by="period", engine=engine) for engine in Engine)
    for one, two in zip(exact.cells, other.cells, strict=True):
        assert two.estimate == pytest.approx(one.estimate, abs=1e-5)
        assert two.se == pytest.approx(one.se, rel=2e-3)
        assert two.df is None and one.df is not None
    assert exact.by_interaction is not None and other.by_interaction is not None
    assert exact.by_interaction.lr is not None and other.by_interaction.lr is not None
    assert other.by_interaction.lr.chi2 == pytest.approx(exact.by_interaction.lr.chi2, abs=1e-4)


@pytest.mark.parametrize(
    ("rows", "state", "words"),
    [
        (["a,c,m,1", "b,c,m,1", "a,d,m,2", "b,d,m,2"], "degenerate", "do not vary"),
        (["a,c,m,1"], "too few", "too few"),
        (["a,c,m,1", "a,c,m,2", "a,d,m,3", "a,d,m,5"], "too few", "two segments"),
        (["a,c,m,1", "a,d,m,2", "b,c,m,2", "b,d,m,3"], "degenerate", "within segments"),
    ],
)
@pytest.mark.parametrize("engine", list(Engine))
def test_states_are_named(fit: Fit, rows: list[str], state: str, words: str, engine: Engine) -> None:
    model = fit(rows, engine=engine)
    assert model.state == state and (model.sigma2, model.tau2) == (None, None)
    assert all(cell.se is None and cell.log10_p is None and cell.low is None for cell in model.cells)
    assert words in " ".join(lines(model))
    assert model.interaction.lr is None and model.interaction.reason


def test_one_metric_or_one_condition_has_no_interaction(fit: Fit) -> None:
    for rows in (
        [row for row in simulated() if "comet" in row],
        [row for row in simulated() if "tense" in row],
    ):
        model = fit(rows)
        assert model.state == "ok" and model.interaction.lr is None and model.interaction.wald is None
        assert "is not tested: no effect is left" in " ".join(lines(model))


def test_a_segment_a_row_is_at_the_boundary(fit: Fit) -> None:
    rows = [f"own{place},{row.split(',', 1)[1]}" for place, row in enumerate(simulated())]
    model = fit(rows)
    assert model.boundary and model.tau2 == 0.0
    assert "estimated as 0" in " ".join(lines(model))


def test_tiny_deltas_keep_their_digits_in_print(fit: Fit) -> None:
    rows = [f"{row.rsplit(',', 1)[0]},{float(row.rsplit(',', 1)[1]) * 1e-9}" for row in simulated()]
    texts = [entry.text for row in as_report(fit(rows)).sheets[0].rows for entry in row]
    assert not {"0.000", "[0.000, 0.000]"} & set(texts)


def test_unequal_variances_are_said(fit: Fit) -> None:
    rows = []
    for row in simulated(60):
        head, value = row.rsplit(",", 1)
        rows.append(f"{head},{float(value) * (4 if 'judge' in row else 1)}")
    (found,) = fit(rows).uneven
    assert (found.column, found.largest) == ("metric", "judge")
    assert 3 < found.largest_sd / found.smallest_sd < 6
    assert fit(simulated(60)).uneven == ()


def test_spread_by_hand() -> None:
    cells = np.repeat([0, 1, 2, 3], 60)
    values = np.tile([-1.0, 1.0], 120) * np.repeat([1.0, 1.0, 1.0, 5.0], 60) + 10 * cells
    found = uneven_spread(values, cells, cells // 2)
    assert found is not None and (found.smallest, found.largest) == (0, 1)
    # Sums of squares 120 of 118 df, and 60 + 1500 of 118.
    assert found.smallest_sd == pytest.approx((120 / 118) ** 0.5)
    assert found.largest_sd == pytest.approx((1560 / 118) ** 0.5)
    assert uneven_spread(values, cells, np.zeros(240, dtype=np.intp)) is None
    assert uneven_spread(values[:110], cells[:110], cells[:110]) is None  # one level has 49 df


@pytest.mark.parametrize(
    ("rows", "head", "options", "words"),
    [
        (["a,c,m,", "b,c,m,NA"], HEAD, {}, "no row has a delta"),
        (["a,c,m,1"], HEAD, {"by": "period"}, "no column 'period'"),
        (["a,c,m,1"], HEAD, {"factor": "category"}, "no column 'category'"),
        (["a,c,m,1"], HEAD, {"by": "metric"}, "'metric' cannot stand for two things"),
        (["a,c,m,1"], HEAD, {"factor": "segment"}, "'segment' cannot stand for two things"),
        (["a,c,m,1"], HEAD, {"by": "condition"}, "'condition' cannot stand for two things"),
        (["a,c,m,1", "b,c,m,1e200"], HEAD, {}, ":3: '1e200' in column 'delta' is too large"),
        (["a,c,m,1", "b,c,m,inf"], HEAD, {}, ":3: 'inf'"),
        ([f"s,c{n},m,1" for n in range(2500)], HEAD, {}, "2500 cells are too many"),
    ],
)
def test_wrong_use(fit: Fit, rows: list[str], head: str, options: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        fit(rows, head, **options)


def test_a_study_is_fitted_whole() -> None:
    rng = np.random.default_rng(0)
    segments, cells = rng.integers(0, 318, 17_745), rng.integers(0, 143, 17_745)
    values = 0.25 * rng.normal(size=318)[segments] + rng.normal(size=17_745)
    fit = fit_cells(values, cells, segments)
    assert fit.se is not None and fit.df is not None and fit.tau2 is not None
    assert np.isfinite([*fit.beta, *fit.se, *fit.df]).all()
    assert fit.tau2 == pytest.approx(0.0625, rel=0.2)
