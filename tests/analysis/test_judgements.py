"""Judgements under several conditions: columns, defaults, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from analysis.judgements import ALL, HUMAN, Judgements, read_judgements
from challenge_sets import InputError

FULL = """metric,condition,system,doc,segment,annotator,domain,score
human,DOC,A,d1,1,ann1,news,80
human,DOC,A,d1,1,ann2,news,
chrF,DOC,A,d1,1,,news,55.5
human,MIX,A,d1,1,ann1,news,70
"""


@pytest.fixture
def read(tmp_path: Path):
    def go(content: str, **options: object) -> Judgements:
        path = tmp_path / "judgements.csv"
        path.write_text(content, encoding="utf-8")
        return read_judgements(path, **options)

    return go


def test_all_columns(read) -> None:
    judgements = read(FULL)
    assert judgements.rows == 4
    assert judgements.metric.levels == ("human", "chrF")
    assert judgements.condition.levels == ("DOC", "MIX")
    assert judgements.annotator is not None and judgements.annotator.levels == ("ann1", "ann2", "")
    assert judgements.domain is not None and judgements.domain.levels == ("news",)
    np.testing.assert_array_equal(judgements.score, [80, np.nan, 55.5, 70])


def test_without_the_optional_columns(read) -> None:
    judgements = read("condition,system,doc,segment,score\nDOC,A,d,1,1\nDOC,A,d,2,2\n")
    assert judgements.metric.levels == (HUMAN,)
    assert judgements.metric.codes.tolist() == [0, 0]
    assert judgements.annotator is None and judgements.domain is None


def test_one_condition_needs_no_column(read) -> None:
    table = "system,doc,segment,score\nA,d,1,1\n"
    assert read(table, optional=("condition", "metric", "annotator", "domain")).condition.levels == (ALL,)
    with pytest.raises(InputError, match="no column 'condition'"):
        read(table)
    with pytest.raises(InputError, match="no column 'metric', 'annotator'"):
        read("condition,system,doc,segment,score\nDOC,A,d,1,1\n", optional=("domain",))


def test_a_segment_name_belongs_to_its_document(read) -> None:
    assert read("condition,system,doc,segment,score\nDOC,A,d1,1,1\nDOC,A,d2,1,2\n").rows == 2


@pytest.mark.parametrize(
    ("lines", "problem", "line"),
    [
        (["human,DOC,A,d1,1,ann1,news,81"], "a second judgement of human, DOC, A, d1, 1, ann1", 6),
        (["", "chrF,DOC,A,d1,1,,news,55"], "a second judgement of chrF, DOC, A, d1, 1", 7),
        (["human,DOC,A,d1,2,,news,81"], "a score of human without its annotator", 6),
        (["human,DOC,B,d1,1,ann1,social,81"], "the document d1 is in the domains news and social", 6),
        (["human,DOC,B,,1,ann1,news,81"], "'doc' is empty", 6),
        (["human,DOC,B,d1,1,ann1,news,high"], "'high' in column 'score'", 6),
    ],
)
def test_refused(read, lines: list[str], problem: str, line: int) -> None:
    with pytest.raises(InputError) as caught:
        read(FULL + "\n".join(lines) + "\n")
    assert problem in caught.value.problem
    assert caught.value.line == line
