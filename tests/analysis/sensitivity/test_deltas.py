"""The join of pairs and scores: what is counted where, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.sensitivity.deltas import DeltaTable, label_signatures, read_deltas
from analysis.sensitivity.scores import PairScores
from challenge_sets import BLIND, ChallengeSet, InputError, Vetting
from metrics.requests import WHOLE, Reach

Make = Callable[..., Any]


def read(paths: tuple[Path, Path]) -> DeltaTable:
    opened = ChallengeSet(paths[0])
    return read_deltas(opened, PairScores(paths[1], opened))


def test_seen_missing_and_blind_are_counted_apart(write: Make, row: Make, about: Make) -> None:
    rows = [
        row("1", "negation", "error", {0: (5.0, 3.0)}),
        row("2", "negation", "error", {0: BLIND}),
        row("3", "negation", "error", {0: "truncated"}),
        row("4", "negation", "error", {}),
        row("1", "negation", "error", {0: (5.0, 6.0)}, system="other"),
    ]
    cell = read(write(rows, [about("chrf")])).metrics[0].cells["error", "negation"]
    assert sorted(cell.deltas) == [-1.0, 2.0]
    assert len(set(cell.segments)) == 1
    assert (cell.missing, cell.blind, cell.pairs) == ({"not scored": 1, "truncated": 1}, 1, 5)


def test_pairs_of_a_document_are_one_cluster_to_a_metric_that_reads_it(
    write: Make, row: Make, about: Make
) -> None:
    rows = [
        row(str(n), "negation", "error", {0: (5.0, 3.0 + n), 1: (5.0, 4.0)}, doc=f"d{n // 4}")
        for n in range(8)
    ]
    whole = about("slide", unit="document", reach=Reach(WHOLE, ("hypothesis",)))
    table = read(write(rows, [about("chrf"), whole]))
    by_item, by_document = (metric.cells["error", "negation"].segments for metric in table.metrics)
    assert [table.items[number] for number in by_item] == [str(n) for n in range(8)]
    assert [table.items[number] for number in by_document] == ["d0"] * 4 + ["d1"] * 4
    # Never taken for one another in a joint model.
    assert not set(by_item) & set(by_document)


def test_pairs_rejected_by_vetting_are_left_out(write: Make, row: Make, about: Make) -> None:
    rows = [
        row("1", "negation", "error", {0: (5.0, 3.0)}),
        row("2", "negation", "error", {0: (5.0, 3.0)}, vetting=Vetting("rejected", "reader")),
        row("3", "negation", "error", {0: (5.0, 3.0)}, vetting=Vetting("accepted", "reader")),
    ]
    table = read(write(rows, [about("chrf")]))
    assert table.rejected == 1
    assert table.metrics[0].cells["error", "negation"].pairs == 2


def test_each_signature_answers_for_its_own_language(write: Make, row: Make, about: Make) -> None:
    metrics = [
        about("bleu", signature="bleu|lang:en|tok:13a|case:mixed"),
        about("bleu", signature="bleu|lang:ja|tok:ja-mecab|case:mixed", target_lang="ja"),
    ]
    rows = [
        row("1", "number", "error", {0: (5.0, 3.0)}),
        row("2", "number", "error", {1: (5.0, 1.0)}, lang="ja"),
        row("3", "number", "error", {}, lang="ja"),
    ]
    english, japanese = read(write(rows, metrics)).metrics
    assert (english.label, japanese.label) == ("bleu (lang:en, tok:13a)", "bleu (lang:ja, tok:ja-mecab)")
    assert english.cells["error", "number"].pairs == 1
    assert list(japanese.cells["error", "number"].deltas) == [4.0]
    assert japanese.cells["error", "number"].missing == {"not scored": 1}


def test_labels_name_only_what_differs(about: Make) -> None:
    metrics = [
        about("chrf", signature="chrf|lang:en|ref:given|nc:6"),
        about("chrf", signature="chrf|lang:en|ref:pseudo=b|nc:6"),
        about("ter", signature="ter|lang:en"),
        about("len", signature="len|a:1"),
        about("len", signature="len|a:1|b:2"),
    ]
    assert label_signatures(metrics) == [
        "chrf (ref:given)",
        "chrf (ref:pseudo=b)",
        "ter",
        "len (len|a:1)",
        "len (b:2)",
    ]


def test_sentinels_come_last_and_kinds_in_order(write: Make, row: Make, about: Make) -> None:
    rows = [
        row("1", category, kind, {0: (1.0, 0.0), 1: (1.0, 0.0)})
        for category, kind in (
            ("typo", "error"),
            ("casing", "error"),
            ("gloss", "variation"),
            ("empty", "control"),
        )
    ]
    table = read(write(rows, [about("length", sentinel=True), about("chrf")]))
    assert [entry.metric.name for entry in table.metrics] == ["chrf", "length"]
    assert list(table.metrics[0].cells) == [
        ("error", "casing"),
        ("error", "typo"),
        ("variation", "gloss"),
        ("control", "empty"),
    ]


def test_scores_of_another_state_of_the_set_are_refused(write: Make, row: Make, about: Make) -> None:
    first = write([row("1", "number", "error", {0: (5.0, 3.0)})], [about("chrf")], name="first")
    second = write([row("2", "number", "error", {0: (5.0, 3.0)})], [about("chrf")], name="second")
    with pytest.raises(
        InputError, match=r"(?s)not made from the set.*score it again: python -m metrics score"
    ):
        read((first[0], second[1]))


def test_a_second_score_of_one_side_is_refused(write: Make, row: Make, about: Make) -> None:
    rows = [row("1", "number", "error", {0: (5.0, 3.0)})]
    with pytest.raises(InputError, match="a second chrf score of the original side of 'number-1-sys'"):
        read(write(rows, [about("chrf")], twice=True))


def test_a_metric_twice_under_one_signature_is_refused(write: Make, row: Make, about: Make) -> None:
    rows = [row("1", "number", "error", {0: (5.0, 3.0)})]
    with pytest.raises(InputError, match="chrf stands twice under the signature"):
        read(write(rows, [about("chrf"), about("chrf")]))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("number-1-sys", "number-9-sys", "the set holds no pair 'number-9-sys'"),
        ("chrf|lang:en|version:1", "chrf|lang:en|version:2", "not among the scored metrics"),
        (",5.0,5.0,", ",nan,nan,", "not a finite number"),
        (",5.0,5.0,", ",,,", "not a score"),
        (",5.0,5.0,", ",high,high,", "not a score"),
    ],
)
def test_rows_that_cannot_be_right_are_refused(
    write: Make, row: Make, about: Make, old: str, new: str, message: str
) -> None:
    from challenge_sets.files import sha256_file

    paths = write([row("1", "number", "error", {0: (5.0, 3.0)})], [about("chrf")])
    table, described = paths[1] / "scores.csv", paths[1] / "scores.json"
    before = sha256_file(table)
    table.write_text(table.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    text = described.read_text(encoding="utf-8").replace(before, sha256_file(table))
    described.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read(paths)


def test_nothing_to_compare_is_said(write: Make, row: Make, about: Make) -> None:
    rejected = Vetting("rejected", "reader")
    rows = [row("1", "number", "error", {0: (5.0, 3.0)}, vetting=rejected)]
    with pytest.raises(InputError, match="the set holds no pairs"):
        read(write(rows, [about("chrf")]))
    with pytest.raises(InputError, match="no metric was scored"):
        read(write([replace(rows[0], vetting=Vetting())], [], name="unscored"))


def test_order_of_rows_changes_nothing(write: Make, sample: tuple[list[Any], list[Any]]) -> None:
    plain = read(write(*sample, name="set"))
    mixed = read(write(*sample, name="set", shuffle=3))
    for one, other in zip(plain.metrics, mixed.metrics, strict=True):
        for key, cell in one.cells.items():
            assert cell.deltas.tolist() == other.cells[key].deltas.tolist()
            assert cell.segments.tolist() == other.cells[key].segments.tolist()
