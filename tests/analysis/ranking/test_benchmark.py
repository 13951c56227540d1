from pathlib import Path

import numpy as np
import pytest

from analysis.ranking.benchmark import FROM_FILE, FROM_MEAN, read_benchmark
from challenge_sets import InputError

GOLD = {"B": [0, -1, None], "A": [-5, None, None], "refA": [0, 0, 0], "C": [None, None, None]}
METRIC = {"A": [0.5, 0.25, 0.0], "refA": [1, 1, 1], "B": [0.75, 0.5, 0.25], "D": [0, 0, 0]}


def test_blocks_are_matched_by_name_and_what_is_not_ranked_is_said(write_mtme) -> None:
    root = write_mtme(
        GOLD,
        {"m-refA": METRIC, "q-src": METRIC},
        system_scores={"m-refA": {"B": 9.0, "A": 7.0, "refA": 1.0}},
        references=["refA"],
        documents=["d1", "d1", "d2"],
    )
    found = read_benchmark(root, "eng-deu", "mqm")
    assert found.lang_pair == "en-de"
    assert found.systems == ("A", "B")
    assert found.left_out == {"refA": "a reference", "C": "no human score", "D": "no human score"}
    np.testing.assert_array_equal(found.gold.segments, [[-5, np.nan, np.nan], [0, -1, np.nan]])
    np.testing.assert_array_equal(found.gold.system, [-5.0, -0.5])
    assert (found.gold.system_from, found.gold.segments_rated) == (FROM_MEAN, 2)
    metric, free = found.metrics
    assert (metric.name, metric.reference, metric.label) == ("m", "refA", "m-refA")
    np.testing.assert_array_equal(metric.segments, [[0.5, 0.25, 0.0], [0.75, 0.5, 0.25]])
    np.testing.assert_array_equal(metric.system, [7.0, 9.0])
    np.testing.assert_array_equal(free.system, [0.25, 0.5])
    assert (metric.system_from, free.system_from) == (FROM_FILE, FROM_MEAN)
    assert found.documents == ("d1", "d1", "d2")
    assert found.document_units().tolist() == [0, 0, 1]
    assert found.segment_units().tolist() == [0, 1, 2]


def test_system_scores_alone_leave_segments_missing(write_mtme) -> None:
    root = write_mtme({"A": [0], "B": [1]}, {}, system_scores={"m-src": {"A": 1.0, "B": None}})
    metric = read_benchmark(root, "en-de", "mqm").metrics[0]
    assert np.isnan(metric.segments).all() and metric.segments_rated == 0
    np.testing.assert_array_equal(metric.system, [1.0, np.nan])


@pytest.mark.parametrize("chosen", [["m"], ["m-refA"], ["m", "m-refA"]])
def test_metrics_are_chosen_by_either_name(write_mtme, chosen: list[str]) -> None:
    blocks = {"A": [0], "B": [1]}
    root = write_mtme(blocks, {"m-refA": blocks, "m2-refA": blocks})
    assert [metric.label for metric in read_benchmark(root, "en-de", "mqm", chosen).metrics] == ["m-refA"]


TWO = {"A": [0, 1], "B": [1, 2]}


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        ({}, ("en-de", "esa"), "no human scores 'esa' for en-de\n  one of: mqm"),
        ({}, ("en-ko", "mqm"), "no language pair 'en-ko'\n  one of: en-de"),
        ({}, ("x", "mqm"), "no language pair 'x'"),
        ({}, ("en-de", "mqm", ["n"]), "no metric 'n'\n  known: m-src"),
        ({"metrics": {"m-src": {"A": [0, 1]}}}, ("en-de", "mqm"), "m-src.seg.score: no scores of B"),
        (
            {"metrics": {"m-src": {"A": [0], "B": [1]}}},
            ("en-de", "mqm"),
            r"different numbers of segments\n  .*mqm.seg.score: 2 a system\n  .*m-src.seg.score: 1 a system",
        ),
        ({"metrics": {"m-src": {"A": [0, 1], "B": [1]}}}, ("en-de", "mqm"), "different numbers of scores"),
        ({"metrics": {"m-src": {}}}, ("en-de", "mqm"), "m-src.seg.score: no scores in the file"),
        ({"metrics": {}}, ("en-de", "mqm"), "no scores of metrics"),
        ({"documents": ["d"]}, ("en-de", "mqm"), r"mqm.seg.score: 2 a system\n  .*en-de.docs: 1 lines"),
        ({"gold": {"A": [None], "B": [None]}}, ("en-de", "mqm"), "no system with a human score"),
        ({"references": ["A", "B"]}, ("en-de", "mqm"), "no system with a human score"),
        (
            {"metrics": {"m-src": {"A": [0, float("nan")], "B": [1, 2]}}},
            ("en-de", "mqm"),
            "m-src.seg.score:2: a line is SYSTEM TAB SCORE, a score a finite number or None",
        ),
        ({"system_scores": {"m-src": {"A": 1.0}}}, ("en-de", "mqm"), "m-src.sys.score: no scores of B"),
    ],
)
def test_what_is_refused(write_mtme, change: dict, arguments: tuple, message: str) -> None:
    given = {"gold": TWO, "metrics": {"m-src": TWO}} | change
    root = write_mtme(given.pop("gold"), given.pop("metrics"), **given)
    with pytest.raises(InputError, match=message):
        read_benchmark(root, *arguments)


def test_documents_that_are_not_known_cannot_be_exchanged(write_mtme) -> None:
    found = read_benchmark(write_mtme(TWO, {"m-src": TWO}), "en-de", "mqm")
    assert found.documents is None
    with pytest.raises(InputError, match="which document"):
        found.document_units()


def test_a_folder_without_scores(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no scores of metrics"):
        read_benchmark(tmp_path, "en-de", "mqm")


@pytest.mark.data
@pytest.mark.parametrize(("gold", "rated"), [("mqm", 460), ("da-sqm", 549)])
def test_wmt23(data: Path, gold: str, rated: int) -> None:
    found = read_benchmark(data / "wmt23", "en-de", gold)
    assert len(found.systems) == 12 and len(found.metrics) == 16
    assert found.left_out == {"refA": "a reference", "synthetic_ref": "a reference"}
    assert (found.segment_count, found.gold.segments_rated) == (557, rated)
    assert len(set(found.documents or ())) == 192
    # System scores are means of segments, but for BLEU and chrF, which are the corpus's.
    np.testing.assert_allclose(found.gold.system, np.nanmean(found.gold.segments, axis=1), atol=1e-12)
    corpus = {
        metric.label
        for metric in found.metrics
        if np.abs(metric.system - metric.segments.mean(axis=1)).max() > 1e-9
    }
    assert corpus == {"BLEU-refA", "chrF-refA"}
