from pathlib import Path

import pytest

from challenge_sets import InputError
from challenge_sets.mtme_scores import (
    human_score_files,
    metric_score_files,
    read_segment_scores,
    read_system_scores,
    segment_score_path,
    write_segment_scores,
)


def test_what_is_written_is_what_that_tool_reads(tmp_path: Path) -> None:
    path = segment_score_path(tmp_path, "en-de", "chrF", "refA")
    write_segment_scores(path, {"A": [1.0, None], "B": [0.1 + 0.2, -3]})
    assert path == tmp_path / "metric-scores" / "en-de" / "chrF-refA.seg.score"
    assert path.read_text() == "A\t1.0\nA\tNone\nB\t0.30000000000000004\nB\t-3.0\n"
    assert read_segment_scores(path) == {"A": [1.0, None], "B": [0.1 + 0.2, -3.0]}
    assert segment_score_path(tmp_path, "en-de", "kiwi", None).name == "kiwi-src.seg.score"


@pytest.mark.data
@pytest.mark.parametrize(
    "name", ["metric-scores/en-de/chrF-refA.seg.score", "human-scores/en-de.mqm.seg.score"]
)
def test_published_files_survive(data: Path, tmp_path: Path, name: str) -> None:
    scores = read_segment_scores(data / "wmt23" / name)
    assert len(scores) == 13
    assert all(len(values) == 557 for values in scores.values())
    write_segment_scores(tmp_path / "copy", scores)
    assert read_segment_scores(tmp_path / "copy") == scores


@pytest.mark.parametrize(
    "content", ["A\n", "A\tx\n", "A\tnan\n", "A\t-inf\n", "None\n", "A\t1\nB\t1\nB\t2\n"]
)
def test_files_that_are_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "f").write_text(content)
    with pytest.raises(InputError):
        read_segment_scores(tmp_path / "f")


@pytest.mark.parametrize("name", ["../x", "a/b"])
def test_a_name_cannot_leave_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot be part of a file name"):
        segment_score_path(tmp_path, "en-de", name, None)


def test_one_score_a_system(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("A\t1\nB\tNone\n")
    assert read_system_scores(tmp_path / "f") == {"A": 1.0, "B": None}
    (tmp_path / "f").write_text("A\t1\nA\t2\n")
    with pytest.raises(InputError, match="2 scores for A"):
        read_system_scores(tmp_path / "f")


def test_score_files_are_found_by_name(tmp_path: Path) -> None:
    metrics, humans = tmp_path / "metric-scores" / "en-de", tmp_path / "human-scores"
    metrics.mkdir(parents=True)
    humans.mkdir()
    for name in (
        "XCOMET-XL-refA.seg.score",
        "XCOMET-XL-refA.sys.score",
        "q-src.sys.score",
        "q-src.seg.txt",
        "x.score",
    ):
        (metrics / name).touch()
    for name in (
        "en-de.mqm.seg.score",
        "en-de.mqm.merged.seg.rating",
        "en-de.a.b.sys.score",
        "en-deu.c.seg.score",
    ):
        (humans / name).touch()
    assert metric_score_files(tmp_path, "en-de") == {
        ("XCOMET-XL", "refA"): {level: metrics / f"XCOMET-XL-refA.{level}.score" for level in ("seg", "sys")},
        ("q", "src"): {"sys": metrics / "q-src.sys.score"},
    }
    assert human_score_files(tmp_path, "en-de") == {
        "mqm": {"seg": humans / "en-de.mqm.seg.score"},
        "a.b": {"sys": humans / "en-de.a.b.sys.score"},
    }
    assert metric_score_files(tmp_path, "en-ko") == {} == human_score_files(tmp_path, "en-ko")


@pytest.mark.parametrize("value", ["1e308", "-1e101", "inf", "nan"])
def test_a_score_too_large_to_compute_with_is_refused(tmp_path: Path, value: str) -> None:
    path = tmp_path / "m.seg.score"
    path.write_text(f"a\t1.0\na\t{value}\n", encoding="utf-8")
    with pytest.raises(InputError, match="a score a finite number") as error:
        read_segment_scores(path)
    assert ":2" in str(error.value)
