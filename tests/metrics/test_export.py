"""Scores that other tools read: mt-metrics-eval score files."""

import csv
from collections.abc import Callable
from itertools import product
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from challenge_sets import ChallengeSet, Generator, InputError, Pair, SetWriter, Translation
from challenge_sets.edits import diff
from challenge_sets.mtme_scores import read_segment_scores
from metrics.export import export_mtme
from metrics.runner import score_set

RULE = Generator("typo", "1", "rule", 0)


def make_set(out: Path, source_langs: tuple[str, ...] = ("en",)) -> ChallengeSet:
    """Three items, two systems and the reference as a system; system B has no pair of item 1."""
    about = {"name": "small", "systems_under_test": ["B", "A"], "reference": "refA"}
    with SetWriter(out, about) as writer:
        for source_lang, number, system in product(source_langs, range(3), ("A", "B", "refA")):
            item, text = f"{source_lang}-de/{number}", f"Haus {number} von {system}"
            reference = "Haus 1 hier"
            writer.add(Translation(item, system, "house", text, source_lang, "de", item, reference=reference))
            if system != "refA" and (system, number) != ("B", 1):
                bad = text + " Hsau"
                name, edits = f"{item}{system}", diff(text, bad)
                writer.add(Pair(name, item, system, "typo", "error", text, bad, edits, "minor", RULE))
    return ChallengeSet(out)


def test_blocks_by_system_lines_by_item_and_none_where_nothing_was_scored(tmp_path: Path) -> None:
    made = make_set(tmp_path / "set")
    score_set(made, ["chrf", "ter", "length"], tmp_path / "scores", workers=1)
    paths = export_mtme(made, tmp_path / "scores", tmp_path / "out")
    assert sorted(path.relative_to(tmp_path / "out").as_posix() for path in paths) == [
        "metric-scores/en-de/chrf-refA.seg.score",
        "metric-scores/en-de/length-src.seg.score",
        "metric-scores/en-de/ter-refA.seg.score",
    ]
    with (tmp_path / "scores" / "scores.csv").open(newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["side"] == "original"]
    for path in paths:
        scores = read_segment_scores(path)
        assert list(scores) == ["A", "B"]
        assert scores["B"][1] is None
        metric = path.name.split("-")[0]
        for row in rows:
            if row["metric"] == metric:
                assert scores[row["system"]][int(row["item"][-1])] == float(row["value"])


def test_ter_is_written_so_that_higher_is_better(tmp_path: Path) -> None:
    made = make_set(tmp_path / "set")
    score_set(made, ["ter"], tmp_path / "scores", workers=1)
    (path,) = export_mtme(made, tmp_path / "scores", tmp_path / "out")
    assert all(
        value is None or value < 0 for values in read_segment_scores(path).values() for value in values
    )


def test_what_cannot_be_one_corpus_is_refused(tmp_path: Path) -> None:
    mixed = make_set(tmp_path / "mixed", ("en", "fr"))
    score_set(mixed, ["chrf"], tmp_path / "mixed" / "scores", workers=1)
    with pytest.raises(InputError, match="mixes en-de and fr-de"):
        export_mtme(mixed, tmp_path / "mixed" / "scores", tmp_path / "out")
    other = make_set(tmp_path / "other")
    with pytest.raises(InputError, match="not those of this set"):
        export_mtme(other, tmp_path / "mixed" / "scores", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_pseudo_reference_names_the_file_whatever_its_name(tmp_path: Path) -> None:
    with SetWriter(tmp_path / "set", {"systems_under_test": ["A"]}) as writer:
        for system in ("A", "org/B 1"):
            writer.add(Translation("i/1", system, "house", "Haus eins", "en", "de", "i/1"))
        edits = diff("Haus eins", "Haus zwei")
        writer.add(Pair("p", "i/1", "A", "number", "error", "Haus eins", "Haus zwei", edits, "major", RULE))
    made = ChallengeSet(tmp_path / "set")
    score_set(made, ["chrf"], tmp_path / "scores", workers=1, pseudo_reference="org/B 1")
    (path,) = export_mtme(made, tmp_path / "scores", tmp_path / "out")
    assert path.name == "chrf-org%2FB%201.seg.score"


def test_command(tmp_path: Path, command: Callable[..., CompletedProcess[str]]) -> None:
    made = make_set(tmp_path / "set")
    score_set(made, ["chrf"], tmp_path / "scores", workers=1)
    done = command(
        "metrics",
        "export",
        "--set",
        made.directory,
        "--scores",
        tmp_path / "scores",
        "--out",
        tmp_path / "out",
    )
    assert done.stdout.strip().endswith("chrf-refA.seg.score")
