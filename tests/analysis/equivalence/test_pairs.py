"""Pairs out of wide tables and out of judgements."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from analysis.equivalence.pairs import PairTable, joint_codes, pairs_from_judgements, read_pairs
from analysis.judgements import read_judgements
from challenge_sets import InputError

HEADER = "condition,system,doc,segment,annotator,metric,domain,score\n"


def judged(tmp_path: Path, text: str, **names: str) -> PairTable:
    path = tmp_path / "judgements.csv"
    path.write_text(text, "utf-8")
    return pairs_from_judgements(read_judgements(path), **names)


def wide(tmp_path: Path, text: str) -> PairTable:
    path = tmp_path / "pairs.csv"
    path.write_text(text, "utf-8")
    return read_pairs(path)


def test_a_wide_table(tmp_path: Path) -> None:
    table = wide(
        tmp_path,
        "MIX,DOC,doc,annotator,domain,note\n81,80,d2,x,news,a\n,70,d1,y,social,b\n61,60,d2,y,news,c\n",
    )
    (source,) = table.sources
    assert (table.first_name, table.second_name, table.domains) == ("DOC", "MIX", ("news", "social"))
    assert source.metric is None and source.paired_by == "row" and source.unmatched == 0
    np.testing.assert_array_equal(source.first, [80, 70, 60])
    np.testing.assert_array_equal(source.second, [81, np.nan, 61])
    # Names are numbered in alphabetical order, so that a bootstrap does not depend on the order of rows.
    assert source.doc is not None and source.annotator is not None
    assert (source.doc.tolist(), source.annotator.tolist()) == ([1, 0, 1], [0, 1, 1])


def test_a_metric_with_one_name_as_annotator_has_none(tmp_path: Path) -> None:
    table = wide(
        tmp_path,
        "metric,annotator,DOC,MIX\nchrF,-,1,2\nchrF,-,2,3\nhuman,x,3,4\nhuman,x,4,5\nCOMET,a,1,2\nCOMET,b,1,2\n",
    )
    known = {source.metric: source.annotator is not None for source in table.sources}
    assert known == {"chrF": False, "human": True, "COMET": True}


def test_empty_annotators(tmp_path: Path) -> None:
    text = "metric,annotator,DOC,MIX\nchrF,,1,2\nhuman,x,3,4\nhuman,y,4,5\n"
    assert [source.annotator is None for source in wide(tmp_path, text).sources] == [True, False]
    with pytest.raises(InputError) as raised:
        wide(tmp_path, text.replace("human,y", "human,"))
    assert "pairs.csv:4: a score of human without its annotator" in str(raised.value)
    # People without names are no single annotator.
    (source,) = wide(tmp_path, "annotator,DOC,MIX\n,1,2\n,2,3\n").sources
    assert source.annotator is None


def test_judgements_pair_by_annotator(tmp_path: Path) -> None:
    table = judged(
        tmp_path,
        HEADER
        + "DOC,A,d1,1,x,human,news,80\nMIX,A,d1,1,x,human,news,82\n"
        + "DOC,A,d1,1,y,human,news,70\nSEG,A,d1,1,y,human,news,10\n"
        + "MIX,A,d2,1,y,human,social,\nDOC,A,d2,1,y,human,social,60\n"
        + "DOC,B,d1,1,x,chrF,news,50\nMIX,B,d1,1,x,chrF,news,51\n",
    )
    human, chrf = table.sources
    assert (human.metric, human.paired_by, human.unmatched) == ("human", "annotator", 1)
    rows = {
        (int(doc), int(person)): (first, second)
        for doc, person, first, second in zip(
            human.doc,
            human.annotator,
            human.first,
            human.second,
            strict=True,  # type: ignore[arg-type]
        )
    }
    assert rows[0, 0] == (80.0, 82.0)
    assert rows[0, 1][0] == 70.0 and np.isnan(rows[0, 1][1])
    assert rows[1, 1][0] == 60.0 and np.isnan(rows[1, 1][1])
    assert human.alone is not None and int(human.alone.sum()) == 1
    assert human.domain is not None and sorted(human.domain.tolist()) == [0, 0, 1]
    # One name on all rows of a metric is no annotator.
    assert (chrf.metric, chrf.paired_by, chrf.annotator) == ("chrF", "unit", None)
    assert (chrf.first.tolist(), chrf.second.tolist()) == ([50.0], [51.0])


def test_units_with_different_annotators_pair_by_their_means(tmp_path: Path) -> None:
    table = judged(
        tmp_path,
        HEADER
        + "DOC,A,d1,1,x,human,news,80\nDOC,A,d1,1,y,human,news,70\nMIX,A,d1,1,z,human,news,82\n"
        + "DOC,A,d1,2,x,human,news,60\nDOC,A,d1,2,y,human,news,\nMIX,A,d1,2,w,human,news,64\n",
    )
    (human,) = table.sources
    assert human.paired_by == "unit mean" and human.annotator is None and human.unmatched == 0
    assert (human.first.tolist(), human.second.tolist()) == ([75.0, 60.0], [82.0, 64.0])


def test_other_conditions_and_no_annotators(tmp_path: Path) -> None:
    text = "condition,system,doc,segment,score\nSEG,A,d1,1,5\nDOC,A,d1,1,7\nSEG,A,d1,2,1\n"
    table = judged(tmp_path, text, first="SEG", second="DOC")
    (source,) = table.sources
    assert (table.first_name, source.metric, source.unmatched) == ("SEG", "human", 1)
    assert (source.first.tolist(), source.second[0]) == ([5.0, 1.0], 7.0)


def test_order_of_judgements_changes_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lines = [
        f"{condition},{system},d{doc},{segment},{person},human,news,{rng.integers(50, 100)}"
        for condition in ("DOC", "MIX")
        for system in "AB"
        for doc in range(4)
        for segment in range(2)
        for person in "xyz"
        if rng.random() < 0.8
    ]
    plain = judged(tmp_path, HEADER + "\n".join(lines) + "\n").sources[0]
    rng.shuffle(lines)
    other = judged(tmp_path, HEADER + "\n".join(lines) + "\n").sources[0]

    def rows(source: object) -> list[tuple[float, ...]]:
        columns = np.column_stack([getattr(source, name) for name in ("doc", "annotator", "first", "second")])
        return sorted(map(tuple, np.nan_to_num(columns, nan=-1).tolist()))

    assert rows(plain) == rows(other)
    assert plain.unmatched == other.unmatched > 0


@pytest.mark.parametrize(
    ("text", "names", "problem"),
    [
        ("DOC,A,d1,1,x,human,news,80\n", {}, "no judgements under the condition 'MIX'"),
        ("DOC,A,d1,1,x,human,news,80\n", {"second": "DOC"}, "'DOC' is no pair of conditions"),
    ],
)
def test_wrong_judgements(tmp_path: Path, text: str, names: dict[str, str], problem: str) -> None:
    with pytest.raises(InputError) as raised:
        judged(tmp_path, HEADER + text, **names)
    assert problem in str(raised.value)


def test_joint_codes_do_not_overflow() -> None:
    large = np.array([0, 2**40, 2**40], dtype=np.intp)
    assert joint_codes(large, large, large).tolist() == [0, 1, 1]


def test_a_chance_meeting_does_not_throw_other_units_away(tmp_path: Path) -> None:
    """Forty units seen by other people under MIX than under DOC, one of them by the same person, too."""
    lines = [
        f"{condition},s,d{unit // 4},{unit},{person}{unit % 5},human,news,{50 + unit}"
        for unit in range(40)
        for condition, person in (("DOC", "a"), ("MIX", "b"))
    ]
    lines.append("MIX,s,d0,0,a0,human,news,90")
    (source,) = judged(tmp_path, HEADER + "\n".join(lines) + "\n").sources
    assert (source.paired_by, source.annotator, source.first.size) == ("unit mean", None, 40)
    assert source.unmatched == 0


def test_most_units_by_one_annotator_pair_by_annotator(tmp_path: Path) -> None:
    lines = [
        f"{condition},s,d{unit // 4},{unit},{'b' if unit > 30 and condition == 'MIX' else 'a'},human,news,50"
        for unit in range(40)
        for condition in ("DOC", "MIX")
    ]
    (source,) = judged(tmp_path, HEADER + "\n".join(lines) + "\n").sources
    assert source.paired_by == "annotator"
    assert source.unmatched == 2 * 9
