"""What of a document reaches a metric that reads more than the segment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import mean

import pytest

from challenge_sets import ChallengeSet, Translation
from challenge_sets.mtme_scores import read_segment_scores
from challenge_sets.readers import READERS
from metrics import METRICS, Answer, Metric, Request, read_scores
from metrics.cells import Cells, Kind
from metrics.requests import WHOLE, Reach, Segment
from metrics.runner import score_set

Make = Callable[..., ChallengeSet]


class Reader(Metric):
    """Writes down the documents that reach it."""

    name = "reader"
    needs = frozenset({"source", "reference"})
    description = "for a test"
    wanted: Reach
    seen: list[Request]

    def parts(self) -> Mapping[str, str]:
        return {"reach": str(self.reach)}

    @property
    def reach(self) -> Reach:
        return type(self).wanted

    def score(self, requests: Sequence[Request]) -> list[Answer]:
        type(self).seen += requests
        return [Answer(float(len(request.document))) for request in requests]


ALL = ("hypothesis", "source", "reference")


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METRICS._classes, "reader", Reader)
    Reader.seen = []


def corpus(translation: Callable, pair: Callable, **later: object) -> list:
    """Two systems' documents of four segments, a pair for each of one system's; last segment first."""
    records: list = []
    for position in (3, 2, 1, 0):
        about = {"doc": "d", "position": position, "source": f"s{position}", "reference": f"r{position}"}
        for system in ("alder", "birch"):
            tested = translation(f"i{position}", f"{system[0]}{position}", system=system, **about)
            if (system, position) not in later.get("without", ()):
                records.append(tested)
            if system == "alder":
                records.append(pair(tested, f"x{position}"))
    return records


def test_the_segments_right_before_and_none_at_the_start(
    write_set: Make, translation: Callable, pair: Callable, tmp_path: Path
) -> None:
    Reader.wanted = Reach(2, ALL)
    score_set(write_set(tmp_path / "set", corpus(translation, pair)), ["reader"], tmp_path / "out")
    found = {(each.hypothesis, each.source, each.reference): each.document for each in Reader.seen}
    before = [Segment(f"a{position}", f"s{position}", f"r{position}") for position in range(4)]
    assert len(found) == 8
    for position in range(4):
        for text in (f"a{position}", f"x{position}"):
            # The edited segment stands alone: what precedes it is as the system wrote it.
            assert found[text, f"s{position}", f"r{position}"] == tuple(
                before[max(0, position - 2) : position]
            )


def test_with_the_context_of_references_the_systems_before_make_no_difference(
    write_set: Make, translation: Callable, pair: Callable, tmp_path: Path
) -> None:
    """What makes a document of one system and one of many the same inputs."""
    Reader.wanted = Reach(2, ("source", "reference"))
    cells = Cells(write_set(tmp_path / "set", corpus(translation, pair)))
    kind = Kind("en", ALL, None, Reader.wanted)
    documents = {request.document for _, _, request in cells.stream({kind})}
    assert {segment.hypothesis for document in documents for segment in document} == {""}
    assert len(cells.columns[kind].numbers) == 8


def test_a_whole_document_is_one_input_whichever_segment_is_under_test(
    write_set: Make, translation: Callable, pair: Callable, tmp_path: Path
) -> None:
    Reader.wanted = Reach(WHOLE, ALL)
    score_set(write_set(tmp_path / "set", corpus(translation, pair)), ["reader"], tmp_path / "out")
    texts = sorted("".join(segment.hypothesis for segment in each.document) for each in Reader.seen)
    assert texts == ["a0a1a2a3", "a0a1a2x3", "a0a1x2a3", "a0x1a2a3", "x0a1a2a3"]
    assert {(each.hypothesis, each.source, each.reference) for each in Reader.seen} == {("", "", None)}
    scores = list(read_scores(tmp_path / "out"))
    assert len(scores) == 8 and {score.value for score in scores} == {4.0}


@pytest.mark.parametrize(
    ("previous", "scored", "reason"),
    [(2, {"i0", "i1"}, "another segment"), (WHOLE, set(), "another segment of the document")],
)
def test_a_gap_in_the_document_is_no_score(
    write_set: Make,
    translation: Callable,
    pair: Callable,
    tmp_path: Path,
    previous: int,
    scored: set[str],
    reason: str,
) -> None:
    """Segment 1 has no reference that is one."""
    Reader.wanted = Reach(previous, ALL)
    records = corpus(translation, pair)
    for place, record in enumerate(records):
        if isinstance(record, Translation) and record.item == "i1":
            records[place] = Translation(
                **{**{n: getattr(record, n) for n in record.__slots__}, "reference": " "}
            )
    score_set(write_set(tmp_path / "set", records), ["reader"], tmp_path / "out")
    scores = list(read_scores(tmp_path / "out"))
    ok = {score.item for score in scores if score.status == "ok"}
    assert ok == scored - {"i1"}
    for score in scores:
        if score.status != "ok":
            assert (score.status, score.value) == ("not_applicable", None)
            own = score.item == "i1"
            assert score.reason == "the item has no reference" if own else reason in score.reason


def test_a_system_that_left_a_segment_out(
    write_set: Make, translation: Callable, pair: Callable, tmp_path: Path
) -> None:
    Reader.wanted = Reach(2, ALL)
    records = [
        record for record in corpus(translation, pair) if (record.item, record.system) != ("i1", "alder")
    ]
    score_set(write_set(tmp_path / "set", records), ["reader"], tmp_path / "out")
    reasons = {score.item: score.reason for score in read_scores(tmp_path / "out")}
    gap = "a segment of the document that the metric reads is not there, or shares its position"
    assert reasons == {"i0": "", "i2": gap, "i3": gap}


@pytest.mark.data
@pytest.mark.parametrize(
    ("plain", "with_context"),
    [("COMET-refA", "docWMT22CometDA-refA"), ("CometKiwi-src", "docWMT22CometKiwiDA-src")],
)
def test_first_segments_are_those_that_the_published_document_metrics_score_alone(
    data: Path, write_set: Make, pair: Callable, tmp_path: Path, plain: str, with_context: str
) -> None:
    """WMT23 en-de: where nothing precedes, the published scores with and without context agree; else not."""
    from challenge_sets import DataReport
    from challenge_sets.readers.base import ReadOptions

    options = ReadOptions(input=data / "wmt23", source_lang="en", target_lang="de", reference="refA")
    translations = [
        each
        for each in READERS["mtme"](options).translations(DataReport())
        if each.system in ("ONLINE-B", "GPT4-5shot", "AIRC")
    ]
    records = [record for each in translations for record in (each, pair(each, each.hypothesis + " x"))]
    cells = Cells(write_set(tmp_path / "set", records))
    kind = Kind("de", ALL, None, Reach(2, ALL))
    first: dict[tuple[str, str], bool] = {}
    for each in translations:
        tested = cells.tested(pair(each, each.hypothesis + " x"))
        segments = cells.segments(tested, None, kind)
        assert not isinstance(segments, int)
        first[each.item, each.system] = not segments
    scores = {
        name: read_segment_scores(data / "wmt23/metric-scores/en-de" / f"{name}.seg.score")
        for name in (plain, with_context)
    }
    apart: dict[bool, list[float]] = {True: [], False: []}
    for each in translations:
        line = int(each.item.rsplit("/", 1)[-1]) - 1
        one, other = (scores[name][each.system][line] for name in (plain, with_context))
        assert one is not None and other is not None
        apart[first[each.item, each.system]].append(abs(one - other))
    assert len(apart[True]) == 3 * 192  # documents
    assert mean(apart[True]) < 2e-3
    assert mean(apart[False]) > 1e-2


@pytest.mark.parametrize(
    ("positions", "previous", "scored"),
    [
        ((0, 1, 2, 3), 2, {0, 1, 2, 3}),
        ((4, 5, 6, 7), 2, {0, 1, 2, 3}),  # a document begins at its first position
        ((0, 1, 5, 6), 2, {0, 1}),
        ((0, 1, 5, 6), 1, {0, 1, 3}),
        ((0, 1, 1, 2), 1, {0}),
        ((0, 1, 5, 6), WHOLE, set()),
        ((0, 0, 1, 2), WHOLE, set()),
    ],
)
def test_positions_run_on(
    write_set: Make,
    translation: Callable,
    pair: Callable,
    tmp_path: Path,
    positions: tuple[int, ...],
    previous: int,
    scored: set[int],
) -> None:
    Reader.wanted = Reach(previous, ALL)
    records: list = []
    for number, position in enumerate(positions):
        tested = translation(str(number), f"a{number}", doc="d", position=position)
        records += [tested, pair(tested, f"x{number}")]
    score_set(write_set(tmp_path / "set", records), ["reader"], tmp_path / "out")
    assert {int(score.item) for score in read_scores(tmp_path / "out") if score.status == "ok"} == scored
