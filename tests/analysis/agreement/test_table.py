"""Alphas of a table of judgements against a plain calculation with pandas and pairs."""

from __future__ import annotations

import csv
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.agreement.alpha import Level
from analysis.agreement.layout import alpha_records, alpha_report, alpha_sheet
from analysis.agreement.table import AlphaRow, alpha_table, z_scores
from analysis.judgements import read_judgements
from analysis.printing.latex import to_latex
from analysis.printing.render import to_markdown, to_text
from challenge_sets import InputError
from challenge_sets.mtme_scores import read_segment_scores

OPTIONAL = ("condition", "metric", "annotator", "domain")


def study(seed: int = 0) -> pd.DataFrame:
    """Four annotators, five documents of one to four segments, three systems, three conditions, with gaps."""
    rng = np.random.default_rng(seed)
    rows = []
    for doc in range(5):
        for system in "ABC":
            for segment in range(1 + doc % 4):
                quality = rng.normal(70, 12)
                for condition in ("MIX", "DOC", "SEG"):
                    for place, annotator in enumerate(("ann", "bob", "eve", "kim")):
                        if rng.random() < 0.2:
                            continue
                        score = quality - 6 * place + (1 + place) * rng.normal(0, 5)
                        gap = rng.random() < 0.1
                        rows.append(
                            (condition, system, f"d{doc}", segment, annotator, "" if gap else round(score, 1))
                        )
    frame = pd.DataFrame(rows, columns=["condition", "system", "doc", "segment", "annotator", "score"])
    frame["score"] = pd.to_numeric(frame["score"])
    return frame


def pairs_alpha(groups: list[list[float]]) -> float:
    groups = [group for group in groups if len(group) > 1]
    pooled = [value for group in groups for value in group]
    within = sum((x - y) ** 2 / (len(g) - 1) for g in groups for x, y in permutations(g, 2))
    between = sum((x - y) ** 2 for x, y in permutations(pooled, 2))
    return 1 - (len(pooled) - 1) * within / between


def saved(frame: pd.DataFrame, path: Path) -> Path:
    frame.to_csv(path, index=False)
    return path


def rows_of(path: Path, **options: object) -> dict[tuple[str, ...], AlphaRow]:
    table = alpha_table(read_judgements(path, optional=OPTIONAL), **options)  # type: ignore[arg-type]
    return {(row.metric, row.condition, row.unit, row.scores): row for row in table.rows}


def test_every_alpha_equals_pandas_and_pairs(tmp_path: Path) -> None:
    frame = study()
    rows = rows_of(saved(frame, tmp_path / "t.csv"))
    assert len(rows) == 12
    known = frame.dropna(subset="score").copy()
    by_annotator = known.groupby("annotator")["score"]
    known["z"] = (known["score"] - by_annotator.transform("mean")) / by_annotator.transform("std")
    for condition, part in known.groupby("condition"):
        for scores, column in (("raw", "score"), ("z", "z")):
            segments = part.groupby(["system", "doc", "segment"])[column].apply(list)
            judged = part.groupby(["system", "doc", "segment"])[column].transform("count")
            means = part[judged > 1].groupby(["system", "doc", "annotator"])[column].mean()
            documents = means.groupby(["system", "doc"]).apply(list)
            for unit, groups in (("segment", segments), ("document", documents)):
                row = rows["human", str(condition), unit, scores]
                assert row.alpha.alpha == pytest.approx(pairs_alpha(list(groups)), abs=1e-10)
                assert row.alpha.units == sum(len(group) > 1 for group in groups)
                assert row.alpha.values == sum(len(group) for group in groups if len(group) > 1)
                assert (row.annotators, row.alpha.clusters) == (4, 5)


def test_gaps_are_counted(tmp_path: Path) -> None:
    frame = study()
    rows = rows_of(saved(frame, tmp_path / "t.csv"))
    part = frame[frame["condition"] == "DOC"]
    assert rows["human", "DOC", "segment", "raw"].alpha.missing == part["score"].isna().sum() > 0
    size = part.groupby(["system", "doc"])["segment"].nunique()
    known = part.dropna()
    twice = known[known.groupby(["system", "doc", "segment"])["score"].transform("count") > 1]
    judged = twice.groupby(["system", "doc", "annotator"])["segment"].count()
    partial = sum(count < size[system, doc] for (system, doc, _), count in judged.items())
    assert rows["human", "DOC", "document", "raw"].partial == partial > 0
    assert rows["human", "DOC", "segment", "raw"].partial == 0


def test_annotators_of_other_segments_of_a_document_do_not_disagree(tmp_path: Path) -> None:
    """A document split between two people has no unit that both judged."""
    lines = ["doc,segment,system,annotator,score"]
    for doc in range(6):
        lines += [
            f"d{doc},{segment},s,{'a' if segment < 2 else 'b'},{10 * doc + segment}" for segment in range(4)
        ]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = alpha_table(read_judgements(path, optional=("condition", "metric", "domain")))
    assert {row.alpha.state for row in table.rows} == {"no pairable values"}


def test_order_of_rows_and_names_do_not_matter(tmp_path: Path) -> None:
    frame = study()
    renamed = frame.assign(system=frame["system"] + "-x", annotator="a-" + frame["annotator"])
    first = rows_of(saved(frame, tmp_path / "a.csv"), resamples=30)
    for other in (frame.sample(frac=1, random_state=1), renamed):
        second = rows_of(saved(other, tmp_path / "b.csv"), resamples=30)
        assert list(first) == list(second)
        for key, row in first.items():
            assert second[key].alpha.alpha == pytest.approx(row.alpha.alpha, abs=1e-12)
            assert second[key].alpha.interval == pytest.approx(row.alpha.interval, abs=1e-10)


def test_z_scores_undo_how_an_annotator_uses_the_scale(tmp_path: Path) -> None:
    """Rescaling one annotator's scores changes the raw alpha and leaves the z-scored one."""
    frame = study()
    strict = frame.copy()
    strict.loc[strict["annotator"] == "bob", "score"] = 20 + strict["score"] / 3
    first, second = rows_of(saved(frame, tmp_path / "a.csv")), rows_of(saved(strict, tmp_path / "b.csv"))
    for key, row in first.items():
        same = second[key].alpha.alpha == pytest.approx(row.alpha.alpha, abs=1e-9)
        assert same == (key[-1] == "z")


def test_annotators_whose_scores_do_not_vary_have_no_z(tmp_path: Path) -> None:
    frame = study()
    frame.loc[frame["annotator"] == "kim", "score"] = 0.1 + 0.2
    table = alpha_table(read_judgements(saved(frame, tmp_path / "t.csv")))
    assert table.without_z == ("kim",)
    counts = {(row.unit, row.scores): row.annotators for row in table.rows if row.condition == "DOC"}
    assert counts == {
        ("segment", "raw"): 4,
        ("document", "raw"): 4,
        ("segment", "z"): 3,
        ("document", "z"): 3,
    }
    assert "No z-scores, as the scores do not vary: kim." in alpha_sheet(table).caption


def test_z_scores_by_hand() -> None:
    z, constant = z_scores(np.array([1.0, 2, 3, 9, np.nan, 5, 5, np.nan]), np.array([0, 0, 0, 1, 1, 2, 2, 3]))
    np.testing.assert_allclose(z, [-1, 0, 1, *[np.nan] * 5])
    assert constant == [1, 2]


def test_conditions_are_not_compared_by_z(tmp_path: Path) -> None:
    """z is over all conditions: the same shift of a condition for everyone does not vanish in the scores."""
    scores = np.array([1.0, 2, 3, 11, 12, 13])
    z, _ = z_scores(scores, np.zeros(6, dtype=np.intp))
    assert z[:3].mean() == pytest.approx(-z[3:].mean()) and z[3:].mean() > 0.8


@pytest.mark.parametrize("level", list(Level))
def test_levels(tmp_path: Path, level: Level) -> None:
    rows = rows_of(saved(study(), tmp_path / "t.csv"), level=level)
    kinds = {key[2:] for key in rows}
    assert kinds == (
        {("segment", "raw")}
        if level is Level.NOMINAL
        else {(unit, scores) for unit in ("segment", "document") for scores in ("raw", "z")}
    )


def test_metrics_stay_apart(tmp_path: Path) -> None:
    frame, other = study(), study(1)
    both = pd.concat([frame.assign(metric="esa"), other.assign(metric="mqm")])
    rows = rows_of(saved(both, tmp_path / "both.csv"))
    alone = rows_of(saved(other, tmp_path / "alone.csv"))
    for (_, *key), row in alone.items():
        assert rows[("mqm", *key)].alpha == row.alpha


@pytest.mark.parametrize(
    ("kept", "unit", "state"),
    [
        (lambda t: t["annotator"] == "ann", "segment", "no pairable values"),
        (lambda t: (t["doc"] == "d0") & (t["system"] == "A"), "segment", "one unit"),
    ],
)
def test_degenerate_tables_are_named(tmp_path: Path, kept: object, unit: str, state: str) -> None:
    frame = study()
    path = saved(frame[kept(frame)], tmp_path / "t.csv")  # type: ignore[operator]
    table = alpha_table(read_judgements(path), resamples=20)
    assert {row.alpha.state for row in table.rows if row.unit == unit and row.scores == "raw"} == {state}
    for row in table.rows:
        assert (row.alpha.alpha, row.reliable, row.alpha.interval) == (None, None, None)
    printed = to_text(alpha_sheet(table)) + to_markdown(alpha_report(table)) + to_latex(alpha_report(table))
    assert state in printed and "nan" not in printed.replace("annotator", "")


def test_constant_scores_and_one_document(tmp_path: Path) -> None:
    frame = study()
    constant = frame.assign(score=5.0)
    rows = rows_of(saved(constant, tmp_path / "a.csv"), resamples=10)
    assert {row.alpha.state for key, row in rows.items() if key[-1] == "raw"} == {"constant"}
    assert {row.alpha.state for key, row in rows.items() if key[-1] == "z"} == {"no pairable values"}
    alone = alpha_table(read_judgements(saved(frame[frame["doc"] == "d3"], tmp_path / "b.csv")), resamples=10)
    assert all(row.alpha.alpha is not None and row.alpha.interval is None for row in alone.rows)
    assert "One document has no interval." in alpha_sheet(alone).caption


def test_no_annotators_no_agreement(tmp_path: Path) -> None:
    path = saved(study().drop_duplicates(["condition", "system", "doc", "segment"]), tmp_path / "t.csv")
    frame = pd.read_csv(path)
    for nameless in (frame.drop(columns="annotator"), frame.assign(annotator="")):
        with pytest.raises(InputError, match="no score has an annotator"):
            rows_of(saved(nameless, path))


def test_scores_of_programs_are_left_out_and_listed(tmp_path: Path) -> None:
    people = study().assign(metric="human")
    once = people.drop_duplicates(["condition", "system", "doc", "segment"])
    both = pd.concat([once.assign(metric="chrF", annotator=""), people])
    table = alpha_table(read_judgements(saved(both, tmp_path / "both.csv")))
    alone = alpha_table(read_judgements(saved(people, tmp_path / "alone.csv")))
    assert (table.without_annotators, table.rows) == (("chrF",), alone.rows)
    assert "Left out, as the scores have no annotator: chrF." in alpha_sheet(table).caption


def test_printed_table(tmp_path: Path) -> None:
    table = alpha_table(read_judgements(saved(study(), tmp_path / "t.csv")), resamples=50)
    sheet = alpha_sheet(table)
    assert [column.heading for column in sheet.columns] == ["unit", "scores", "DOC", "MIX", "SEG"]
    assert [[entry.text for entry in row[:2]] for row in sheet.rows] == [
        ["document", "raw"],
        ["document", "z by annotator"],
        ["segment", "raw"],
        ["segment", "z by annotator"],
    ]
    records = alpha_records(table)
    for row in sheet.rows:
        for entry, condition in zip(row[2:], ("DOC", "MIX", "SEG"), strict=True):
            scores = "z" if row[1].text != "raw" else "raw"
            record = next(
                r
                for r in records
                if (r["condition"], r["unit"], r["scores"]) == (condition, row[0].text, scores)
            )
            span = f"[{record['low']:.3f}, {record['high']:.3f}] n={record['units']}"
            assert entry.text == f"{record['alpha']:.3f} {span}".replace("-", "−")
            assert (entry.mark == "●") == (record["alpha"] >= 0.667) == record["reliable"]


def campaigns(data: Path, names: tuple[str, ...], path: Path) -> Path:
    """The official segment scores of campaigns as one table, each campaign standing for an annotator."""
    docs = (data / "wmt23" / "documents" / "en-de.docs").read_text("utf-8").splitlines()
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["doc", "segment", "system", "annotator", "score"])
        for name in names:
            scores = read_segment_scores(data / "esa_wmt23_ende" / f"en-de.{name}.seg.score")
            for system, values in scores.items():
                for place, (line, value) in enumerate(zip(docs, values, strict=True)):
                    if value is not None:
                        writer.writerow([line.split("\t")[1], place, system, name, value])
    return path


@pytest.mark.data
@pytest.mark.parametrize(("other", "units", "right"), [("ESA-2", 2691, 0.465280), ("ESA-IAA", 984, 0.348026)])
def test_two_campaigns_of_error_span_annotation(
    data: Path, tmp_path: Path, other: str, units: int, right: float
) -> None:
    """All pairs of the real scores, formed one by one, against the closed form."""
    path = campaigns(data, ("ESA-1", other), tmp_path / "esa.csv")
    row = rows_of(path)["human", "all", "segment", "raw"]
    assert (row.alpha.units, row.alpha.values, row.annotators) == (units, 2 * units, 2)
    both = pd.read_csv(path).pivot_table(index=["system", "segment"], columns="annotator", values="score")
    pairs = both.dropna().to_numpy()
    pooled = pairs.ravel()
    between = sum(float(((pooled - value) ** 2).sum()) for value in pooled)
    within = 2 * float(((pairs[:, 0] - pairs[:, 1]) ** 2).sum())
    assert row.alpha.alpha == pytest.approx(1 - (pooled.size - 1) * within / between, abs=1e-11)
    assert row.alpha.alpha == pytest.approx(right, abs=1e-6)
