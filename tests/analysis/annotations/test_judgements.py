from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analysis.annotations.judgements import JUDGEMENT_COLUMNS, judgement_rows, segment_scores
from analysis.judgements import read_judgements
from analysis.printing.render import to_csv
from challenge_sets import InputError
from challenge_sets.annotations import Annotation
from challenge_sets.esa import Campaign
from challenge_sets.mtme_scores import read_segment_scores, write_segment_scores

Make = Callable[..., Annotation]


@pytest.mark.data
@pytest.mark.parametrize("name", ["ESA-1", "ESA-2", "MQM-1"])
def test_published_segment_scores_exactly(
    campaigns: Mapping[str, Campaign], data: Path, tmp_path: Path, name: str
) -> None:
    scores = segment_scores(campaigns[name].real(), 557)
    published = read_segment_scores(data / "esa_wmt23_ende" / f"en-de.{name}.seg.score")
    assert scores == published
    assert sum(value is not None for values in scores.values() for value in values) == 2691
    write_segment_scores(tmp_path / "scores", scores)
    assert read_segment_scores(tmp_path / "scores") == published


@pytest.mark.data
def test_judgements_are_a_table_that_other_commands_read(
    campaigns: Mapping[str, Campaign], tmp_path: Path
) -> None:
    real = {name: campaigns[name].real() for name in ("ESA-1", "MQM-1")}
    rows = judgement_rows(real)
    (tmp_path / "judgements.csv").write_text(to_csv(list(rows[0]), rows), encoding="utf-8")
    table = read_judgements(tmp_path / "judgements.csv")
    assert table.rows == 2 * 2691
    assert table.condition.levels == ("ESA-1", "MQM-1")
    assert len(table.system.levels) == 13
    assert table.domain is not None
    assert set(table.domain.levels) == {"news", "social", "speech", "user_review"}
    assert table.score[:2691].mean() == pytest.approx(
        sum(found.value for found in real["ESA-1"]) / 2691, abs=1e-9
    )
    # Both campaigns as one condition: every output judged twice, by two people.
    pooled = judgement_rows({"ESA": [*campaigns["ESA-1"].real(), *campaigns["ESA-2"].real()]})
    assert len(pooled) == 2 * 2691


def test_rows_and_scores_by_hand(annotation: Make) -> None:
    found = [
        annotation(2, score=40.0, login="l2", annotator="p2", domain="news"),
        annotation(0, score=10.0, annotator="p1", domain="news"),
        # One annotator twice, under two logins: one judgement.
        annotation(2, score=50.0, annotator="p1", domain="news"),
        annotation(2, score=70.0, login="l3", annotator="p1", domain="news"),
    ]
    rows = judgement_rows({"z": found, "a": [annotation(1, score=None, errors=2, domain="news")]})
    assert [tuple(row.values()) for row in rows] == [
        ("z", "A", "d", 0, "p1", "news", 10.0),
        ("z", "A", "d", 2, "p1", "news", 60.0),
        ("z", "A", "d", 2, "p2", "news", 40.0),
        ("a", "A", "d", 1, "l1", "news", -2.0),
    ]
    assert tuple(rows[0]) == JUDGEMENT_COLUMNS
    assert "domain" not in judgement_rows({"z": [*found, annotation(3)]})[0]
    assert segment_scores(found, 4) == {"A": [10.0, None, pytest.approx(160 / 3), None]}
    with pytest.raises(InputError, match="line 2 of a corpus of 2 segments"):
        segment_scores(found, 2)
