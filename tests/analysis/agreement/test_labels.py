"""Tables of two annotators' labels: what is read, what is refused, kappa by category."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from analysis.agreement.kappa import BinaryCounts
from analysis.agreement.labels import LabelledItem, agreement_rows, binary_counts, read_labels
from analysis.agreement.layout import kappa_records, kappa_sheet
from analysis.printing.render import to_text
from challenge_sets import InputError


def labels_file(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_what_is_read(tmp_path: Path) -> None:
    path = labels_file(
        tmp_path / "labels.csv",
        "note,annotator2,annotator1,category,kind\n"
        "x, valid,valid,tense,error\n"
        ",,invalid,tense,error\n"
        ",invalid,,title,error\n"
        ",NA,invalid,order,variation\n",
    )
    assert read_labels(path) == [
        LabelledItem("valid", "valid", "tense", "error"),
        LabelledItem("invalid", None, "tense", "error"),
        LabelledItem(None, "invalid", "title", "error"),
        LabelledItem("invalid", "NA", "order", "variation"),
    ]


def test_whole_numbers_written_with_a_point_are_the_same_label(tmp_path: Path) -> None:
    path = labels_file(tmp_path / "labels.csv", "annotator1,annotator2\n1,1.0\n0,0.0\n1,\n0,1.00\n2.5,2.5\n")
    assert [(item.first, item.second) for item in read_labels(path)] == [
        ("1", "1"),
        ("0", "0"),
        ("1", None),
        ("0", "1"),
        ("2.5", "2.5"),
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("annotator1\nvalid\n", "no column 'annotator2'"),
        ("annotator1,annotator2\n", "no rows"),
        ("annotator1,annotator2\nvalid,Valid\n", "differ in case alone"),
        ("annotator1,annotator2,category\nvalid,valid,\n", "2: the column 'category' is empty"),
        ("annotator1,annotator2,annotator2\na,b,c\n", "stands twice"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read_labels(labels_file(tmp_path / "labels.csv", text))


def items_of(category: str, kind: str, counts: BinaryCounts, words: tuple[str, str]) -> list[LabelledItem]:
    return [
        LabelledItem(words[i], words[j], category, kind)
        for i, row in enumerate(counts.table())
        for j, count in enumerate(row)
        for _ in range(count)
    ]


@pytest.mark.data
@pytest.mark.parametrize(
    "words", [("valid", "invalid"), ("accepted", "rejected"), ("1", "0"), ("True", "False")]
)
def test_published_table_from_labels(data: Path, words: tuple[str, str]) -> None:
    """Items made from the counts of Table 7, in any order, give the whole table with its totals."""
    rows = json.loads((data / "published" / "minimal_pairs.json").read_text("utf-8"))["table7_agreement"]
    variations = ("segmentation", "name_annotation", "name_format")
    items: list[LabelledItem] = []
    names = ("n", "valid_annotator1", "valid_annotator2", "both_valid", "both_invalid")
    for row in rows[:-3]:
        kind = "variations" if row["category"] in variations else "errors"
        items += items_of(row["category"], kind, BinaryCounts(*(row[name] for name in names)), words)
    random.Random(0).shuffle(items)
    answer = {record["name"]: record for record in kappa_records(agreement_rows(items, resamples=20))}
    assert list(answer)[-3:] == ["errors", "variations", "overall"]
    assert len(answer) == len(rows) == 14
    for row in rows:
        record = answer[row["category"]]
        assert round(record["kappa"], 3) == row["kappa"], row["category"]
        ours = [record[name] for name in ("n", "valid1", "valid2", "both_valid", "both_invalid")]
        assert ours == [row[name] for name in names]


def test_counts_are_shown_where_the_labels_are_two_that_mean_valid() -> None:
    three = agreement_rows([LabelledItem(a, b) for a, b in ("ab", "bb", "cc", "ac")])
    assert [row.counts for row in three] == [None]
    assert "valid" not in " ".join(column.heading for column in kappa_sheet(three).columns)
    one_word = agreement_rows([LabelledItem("invalid", "invalid"), LabelledItem("invalid", None)])
    assert one_word[0].counts == BinaryCounts(1, 0, 0, 0, 1)
    sheet = kappa_sheet(one_word)
    assert "without both labels" in to_text(sheet)
    assert "undefined: both annotators gave one and the same label" in " ".join(sheet.caption)


def test_a_category_without_labels_is_named() -> None:
    rows = agreement_rows([LabelledItem("a", "b", "x"), LabelledItem(None, "b", "y")], resamples=10)
    assert [(row.name, row.kappa.state) for row in rows] == [
        ("x", "no variance"),
        ("y", "no data"),
        ("overall", "no variance"),
    ]


@pytest.mark.parametrize("value", ["", "1,2,3,4", "1,2,3,4,5,6", "1,2,x,4,5", "1,2,3,4,1.5", "1,2,3,4,nan"])
def test_counts_are_five_whole_numbers(value: str) -> None:
    with pytest.raises(InputError, match="--counts is"):
        binary_counts("--counts", value)
