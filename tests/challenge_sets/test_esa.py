"""Campaigns: small made ones for each trap, then the published ones, counted again by hand here."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from challenge_sets import DataReport, InputError
from challenge_sets.esa import Campaign, Sources, read_annotators, read_campaign

MINOR = {"start_i": 0, "end_i": 0, "severity": "minor", "error_type": None}
OMISSION = {"start_i": "missing", "end_i": "missing", "severity": "major"}


def row(
    item: int = 0,
    doc: str = "d",
    *,
    login: str = "l1",
    system: str = "A",
    kind: str = "TGT",
    score: object = 80,
    spans: Any = (),
    start: float = 1.0,
    end: float | None = None,
    lang: str = "deu",
) -> list[object]:
    text = spans if isinstance(spans, str) else json.dumps(list(spans))
    return [
        login,
        system,
        item,
        kind,
        "eng",
        lang,
        score,
        doc,
        "False",
        text,
        start,
        start if end is None else end,
    ]


def write(path: Path, rows: list[list[object]], *, newline: str = "\n", bom: bool = False) -> Path:
    with path.open("w", encoding="utf-8-sig" if bom else "utf-8", newline="") as stream:
        csv.writer(stream, lineterminator=newline).writerows(rows)
    return path


def read(path: Path, rows: list[list[object]], sources: Sources | None = None, **how: Any) -> Campaign:
    return read_campaign(write(path, rows, **how), "c", sources or Sources(), DataReport())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "campaign.csv"


def tasks(path: Path, *items: list[tuple[int, str, str, str]]) -> Path:
    """A task a list of (itemID, documentID, _item, text); with no _item it is the tutorial's."""
    value = [
        {
            "items": [
                {"itemID": item, "documentID": document, "targetText": text}
                | ({"_item": place} if place else {})
                for item, document, place, text in task
            ]
        }
        for task in items
    ]
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def outputs(root: Path, *, docs: str, **systems: str) -> Path:
    for folder, name, text in [
        ("sources", "en-de.txt", "s\n" * docs.count("\n")),
        ("documents", "en-de.docs", docs),
        *(("system-outputs/en-de", f"{system}.txt", text) for system, text in systems.items()),
    ]:
        (root / folder).mkdir(parents=True, exist_ok=True)
        (root / folder / name).write_text(text, encoding="utf-8", newline="")
    return root


def test_inclusive_ends_become_half_open_and_omissions_have_no_place(file: Path) -> None:
    spans = [MINOR, MINOR | {"start_i": 2, "end_i": 5, "severity": "undecided"}, OMISSION]
    found = read(file, [row(spans=spans)]).annotations[0]
    assert [(span.start, span.end, span.severity) for span in found.spans] == [
        (0, 1, "minor"),
        (2, 6, "undecided"),
        (None, None, "major"),
    ]
    assert (found.line, found.doc, found.system, found.score, found.kind) == (0, "d", "A", 80.0, "real")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", [False, True])
def test_line_ends_and_byte_order_marks(file: Path, newline: str, bom: bool) -> None:
    campaign = read(file, [row(0), row(1)], newline=newline, bom=bom)
    assert [found.login for found in campaign.annotations] == ["l1", "l1"]
    assert [found.end_time for found in campaign.annotations] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("kind", "system", "document", "expected", "doc"),
    [
        ("TGT", "wmt23.A", "talk-1#A", "real", "talk-1"),
        ("TGT", "A", "talk-1", "real", "talk-1"),
        ("TGT", "A", "odd#name", "real", "odd#name"),
        ("BAD", "wmt23.A", "talk-1#A#bad12", "attention check", "talk-1"),
        ("BAD", "wmt23.A", "talk-1#A#bad5#duplicate2", "attention check", "talk-1"),
        ("BAD", "A", "talk-1#incomplete#bad", "attention check", "talk-1"),
        ("TGT", "wmt23.A", "talk-1#A#duplicate14", "filler", "talk-1"),
        ("TGT", "A", "talk-1#incomplete", "filler", "talk-1"),
        ("TGT", "A", "talk-1#dup#dup", "filler", "talk-1"),
        ("TGT", "ende-tutorial2", "ende-tutorial2", "tutorial", "ende-tutorial2"),
        # A document that merely sounds like one.
        ("TGT", "A", "ende-tutorial2", "real", "ende-tutorial2"),
    ],
)
def test_kinds_and_documents(
    file: Path, kind: str, system: str, document: str, expected: str, doc: str
) -> None:
    campaign = read(file, [row(7, document, system=system, kind=kind)])
    found = campaign.annotations[0]
    assert (found.kind, found.doc) == (expected, doc)
    assert campaign.counts()[found.kind] == 1
    assert len(campaign.real()) == (expected == "real")


def test_the_latest_save_counts_whatever_the_order_of_the_rows(file: Path) -> None:
    saves = [row(score=score, start=score, end=end) for score, end in ((10, 200), (20, 300), (30, 250))]
    for rows in (saves, saves[::-1]):
        campaign = read(file, rows)
        assert [found.score for found in campaign.annotations] == [20.0]
        assert [found.score for found in campaign.saves] == [10.0, 20.0, 30.0]


def test_a_tie_in_time_goes_to_the_lower_row_and_is_reported(file: Path) -> None:
    report = DataReport()
    write(file, [row(score=10), row(score=20), row(1), row(1)])
    campaign = read_campaign(file, "c", Sources(), report)
    assert [found.score for found in campaign.annotations] == [20.0, 80.0]
    assert report.counts["earlier save of an item left out"] == 2
    assert report.counts["two saves at one time that differ, the lower row is kept"] == 1


def test_other_logins_systems_and_copies_are_no_saves_of_the_same_item(file: Path) -> None:
    rows = [row(), row(login="l2"), row(system="B"), row(doc="d#dup"), row(doc="d#bad", kind="BAD")]
    assert len(read(file, rows).annotations) == 5


def test_typed_errors_make_it_mqm_and_the_slider_means_nothing(file: Path) -> None:
    typed = MINOR | {"error_type": ["Linguistic conventions", "Punctuation"]}
    campaign = read(file, [row(spans=[typed], score=0), row(1, score=0)])
    assert campaign.protocol == "MQM"
    assert [(found.score, found.value) for found in campaign.annotations] == [(None, -0.1), (None, 0.0)]
    assert read(file, [row(score=0)]).protocol == "ESA"


def test_tasks_say_which_segment_and_a_login_which_task(file: Path, tmp_path: Path) -> None:
    batches = tasks(
        tmp_path / "tasks.json",
        [(1, "x-tutorial1", "", "t"), (2, "d#A", "A | 8 | d", "eight"), (3, "d#A", "A | 9 | d", "nine")],
        [(2, "d#A", "A | 4 | d", "four"), (4, "e#B", "B | 5 | e", "five")],
    )
    rows = [
        row(1, "x-tutorial1", system="x-tutorial1"),
        *(row(item, "d#A", system="wmt.A") for item in (2, 3)),
        row(2, "d#A", login="l2", system="wmt.A"),
        row(4, "e#B", login="l2", system="wmt.B"),
    ]
    found = {
        (one.login, one.item): (one.system, one.line, one.doc, one.text)
        for one in read(file, rows, Sources(batches=batches)).annotations
    }
    assert found == {
        ("l1", 1): ("x-tutorial1", None, "x-tutorial1", None),
        ("l1", 2): ("A", 8, "d", "eight"),
        ("l1", 3): ("A", 9, "d", "nine"),
        ("l2", 2): ("A", 4, "d", "four"),
        ("l2", 4): ("B", 5, "e", "five"),
    }
    with pytest.raises(InputError, match=r"campaign.csv:1: item 2 .* is another segment in each of 2 tasks"):
        read(file, [row(2, "d#A", system="wmt.A")], Sources(batches=batches))
    with pytest.raises(InputError, match=r"campaign.csv:2: item 9 of 'd#A' is in no task of .*tasks.json"):
        read(file, [row(2, "d#A"), row(9, "d#A")], Sources(batches=batches))


def test_an_item_that_two_tasks_share_needs_no_choice(file: Path, tmp_path: Path) -> None:
    shared = [(2, "d#A", "A | 8 | d", "eight")]
    batches = tasks(tmp_path / "tasks.json", shared, shared)
    assert read(file, [row(2, "d#A")], Sources(batches=batches)).annotations[0].line == 8


def test_a_table_of_segments_and_the_outputs(file: Path, tmp_path: Path) -> None:
    table = tmp_path / "segments.tsv"
    table.write_text("line\titem_id\tdomain\tdoc_id\n0\t20\tnews\td\n1\t21\tnews\td\n", encoding="utf-8")
    directory = outputs(tmp_path / "mtme", docs="news\td\nnews\td\n", A="one\ntwo 😀!\n")
    sources = Sources(segments=table, outputs=directory)
    emoji = [{"start_i": 4, "end_i": 5, "severity": "minor"}]
    rows = [row(21, spans=emoji), row(20), row(21, "d#bad", kind="BAD")]
    campaign = read(file, rows, sources)
    assert (campaign.language_pair, campaign.segments) == ("en-de", 2)
    found = {(one.kind, one.line): one for one in campaign.annotations}
    assert found["real", 1].text == "two 😀!"
    span = found["real", 1].spans[0]
    assert "two 😀!"[span.start : span.end] == "😀!"
    assert found["real", 0].text == "one"
    assert found["real", 0].domain == "news"
    # What was damaged is not known, so its spans are not checked against the undamaged text.
    assert found["attention check", 1].text is None


def test_texts_keep_the_characters_that_offsets_count(file: Path, tmp_path: Path) -> None:
    decomposed = "u\u0308ber\u2028all\r\n"
    directory = outputs(tmp_path / "mtme", docs="d\n", A=decomposed)
    found = read(file, [row(spans=[MINOR | {"end_i": 8}])], Sources(outputs=directory)).annotations[0]
    assert found.text == "u\u0308ber\u2028all"
    assert found.spans[0].end == len(found.text) == 9


def test_several_language_pairs_need_a_choice(file: Path) -> None:
    rows = [row(), row(1, lang="jpn")]
    with pytest.raises(InputError, match="several language pairs: en-de, en-ja"):
        read(file, rows)
    assert len(read(file, rows, Sources(languages=("en", "ja"))).annotations) == 1
    with pytest.raises(InputError, match="no rows of en-ko"):
        read(file, rows, Sources(languages=("en", "ko")))


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        (row(score="good"), "score is 'good', not a number"),
        (row(score="nan"), "score is 'nan', not a number"),
        (row(score=""), "score is '', not a number"),
        (row(score=101), "score is 101, it lies between 0 and 100"),
        (row(spans="[{"), "broken JSON"),
        (row(spans="{}"), "error_spans is not a list"),
        (row(spans="[1]"), "a span is not an object"),
        (row(spans=[MINOR | {"severity": "critical"}]), "severity is 'critical'"),
        (row(spans=[{"start_i": 0, "end_i": 0}]), "no field 'severity'"),
        (row(spans=[MINOR | {"start_i": 3}]), "does not run forwards"),
        (row(spans=[MINOR | {"start_i": -1}]), "does not run forwards"),
        (
            row(spans=[MINOR | {"start_i": "missing"}]),
            "start_i is 'missing': offsets are whole numbers, or both",
        ),
        (row(spans=[MINOR | {"end_i": 1.5}]), "end_i is 1.5"),
        (row(spans=[MINOR | {"end_i": True}]), "end_i is True"),
        (row(spans=[MINOR | {"error_type": [1]}]), "error_type"),
        (row(kind="REF"), "type is 'REF'"),
        (row(kind="BAD"), "type BAD does not fit the document 'd'"),
        (row(doc="d#bad"), "type TGT does not fit the document 'd#bad'"),
        (row(item=-1), "itemID is '-1'"),
        (row(start=5, end=4), "start_time 5.0 is not before end_time 4.0"),
        (row(login=""), "login is empty"),
        (row(lang="no language"), "unknown language"),
        (row()[:11], "11 fields, a row of a campaign has 12"),
    ],
)
def test_rows_that_are_refused_with_their_line(file: Path, broken: list[object], problem: str) -> None:
    with pytest.raises(InputError, match=r"campaign\.csv:2: ") as caught:
        read(file, [row(1), broken])
    assert problem in str(caught.value)


def test_spans_must_fit_the_text(file: Path, tmp_path: Path) -> None:
    sources = Sources(outputs=outputs(tmp_path / "mtme", docs="d\n", A="four\n"))
    read(file, [row(spans=[MINOR | {"end_i": 3}])], sources)
    with pytest.raises(InputError, match=r"campaign.csv:1: .*ends behind the translation, which has 4"):
        read(file, [row(spans=[MINOR | {"end_i": 4}])], sources)


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (row(2), "segment 2 (from 0) of 2"),
        (row(1), "item 1 is of document 'd', but by"),
        (row(0, system="Z"), "no outputs of 'Z'"),
    ],
)
def test_rows_that_the_outputs_do_not_have(
    file: Path, tmp_path: Path, bad: list[object], problem: str
) -> None:
    sources = Sources(outputs=outputs(tmp_path / "mtme", docs="d\ne\n", A="one\ntwo\n"))
    with pytest.raises(InputError, match=r"campaign\.csv:1: ") as caught:
        read(file, [bad], sources)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "broken JSON"),
        ("{}", "not a JSON list of tasks"),
        (
            '[{"items": [{"itemID": 1, "_item": "A | x | d", "documentID": "d", "targetText": ""}]}]',
            "element 1",
        ),
        ('[{"items": [{"itemID": 1, "_item": "A", "documentID": "d", "targetText": ""}]}]', "_item is 'A'"),
        (
            '[{"items": [{"itemID": "1", "_item": "A | 1 | d", "documentID": "d", "targetText": ""}]}]',
            "'itemID' is not a whole",
        ),
        ('[{"tasks": []}]', "no field 'items'"),
    ],
)
def test_tasks_that_are_refused(file: Path, tmp_path: Path, content: str, problem: str) -> None:
    batches = tmp_path / "tasks.json"
    batches.write_text(content)
    with pytest.raises(InputError, match=r"tasks\.json") as caught:
        read(file, [row()], Sources(batches=batches))
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("line\tdoc_id\n0\td\n", "no column 'item_id'"),
        ("item_id\tline\tdoc_id\n0\tx\td\n", "line is 'x'"),
        ("item_id\tline\tdoc_id\n0\t0\td\n0\t1\td\n", "item_id 0 stands twice"),
        ("item_id\tline\tdoc_id\n5\t0\td\n", "item 0 is not in"),
        ("item_id\tline\tdoc_id\n0\t0\te\n", "item 0 is of document 'd'"),
    ],
)
def test_segment_tables_that_are_refused(file: Path, tmp_path: Path, content: str, problem: str) -> None:
    table = tmp_path / "segments.tsv"
    table.write_text(content)
    with pytest.raises(InputError) as caught:
        read(file, [row()], Sources(segments=table))
    assert problem in str(caught.value)


def test_empty_absent_and_twofold(file: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no rows"):
        read(file, [])
    with pytest.raises(InputError, match="no such file"):
        read_campaign(tmp_path / "absent", "c", Sources(), DataReport())
    with pytest.raises(InputError, match="not by both"):
        Sources(batches=file, segments=file)
    file.write_text('a,"b\n')
    with pytest.raises(InputError, match="broken CSV"):
        read_campaign(file, "c", Sources(), DataReport())


def test_annotators_behind_logins(file: Path, tmp_path: Path) -> None:
    mapping = tmp_path / "people.csv"
    mapping.write_bytes("\ufeffAnnotatorID,protocol,login,,\r\np1,ESA,l1,,\r\np1,ESA,l2,,\r\n".encode())
    people = read_annotators(mapping, DataReport())
    assert people == {"l1": "p1", "l2": "p1"}
    report = DataReport()
    write(file, [row(), row(login="l3")])
    campaign = read_campaign(file, "c", Sources(annotators=people), report)
    assert [found.annotator for found in campaign.annotations] == ["p1", "l3"]
    assert report.counts["login without an annotator, taken as a person of its own"] == 1

    for content, problem in (
        ("login,name\nl1,p\n", "needs the columns"),
        ("login,annotator\nl1,p\nl1,q\n", "two annotators"),
        ("login,annotator\nl1,\n", "empty field"),
        ("login,annotator\nl1\n", "1 fields"),
    ):
        mapping.write_text(content)
        with pytest.raises(InputError, match=problem):
            read_annotators(mapping, DataReport())


# ---- the published campaigns ----

EN_DE = {
    "ESA-1": "240315rc5ESA.scores.csv",
    "ESA-2": "240520rc6ESA.scores.csv",
    "MQM-1": "240315rc5MQM.scores.csv",
}


@pytest.mark.data
@pytest.mark.parametrize(("name", "rows"), [("ESA-1", 3314), ("ESA-2", 3327), ("MQM-1", 3308)])
def test_english_german(data: Path, name: str, rows: int) -> None:
    folder = data / "esa_wmt23_ende"
    batches = folder / "batches_wmt23_en-de_esa.json"
    report = DataReport()
    sources = Sources(batches=batches, outputs=data / "wmt23")
    campaign = read_campaign(folder / EN_DE[name], name, sources, report)
    assert (campaign.protocol, campaign.language_pair, campaign.segments) == (name[:3], "en-de", 557)
    assert len(campaign.saves) == rows
    assert campaign.counts() == {"real": 2691, "attention check": 397, "filler": 14, "tutorial": 198}
    assert report.counts["earlier save of an item left out"] == rows - 3300
    assert "two saves at one time that differ, the lower row is kept" not in report.counts
    # Texts of the tasks are the outputs of the systems, by line.
    outputs = {
        path.stem: path.read_bytes().decode("utf-8").split("\n")
        for path in (data / "wmt23" / "system-outputs" / "en-de").glob("*.txt")
    }
    assert all(found.text == outputs[found.system][found.line] for found in campaign.real())  # type: ignore[index]
    # The pair of items that two tasks name alike: logins ending in 07 mean other lines than the rest.
    lines = {
        (found.login[-2:] == "07", found.item): found.line
        for found in campaign.real()
        if found.item in (90, 91) and found.document_id == "elitr_minuting-19#GPT4-5shot"
    }
    assert lines == {(True, 90): 398, (True, 91): 399, (False, 90): 405, (False, 91): 406}


@pytest.mark.data
def test_english_japanese(data: Path) -> None:
    folder = data / "wmt24_en-ja"
    sources = Sources(
        segments=folder / "segments.tsv",
        outputs=folder,
        annotators=read_annotators(folder / "annotators.tsv", DataReport()),
    )
    path = folder / "esa_generalMT2024_wave3.en-ja.csv"
    campaign = read_campaign(path, "wave3", sources, DataReport())
    assert (campaign.protocol, campaign.language_pair, campaign.segments) == ("ESA", "en-ja", 337)
    saved = Counter(found.kind for found in campaign.saves)
    assert saved == {"real": 4417, "attention check": 689, "filler": 167 + 44, "tutorial": 336}
    # Every system has all segments, each once.
    assert campaign.counts() == {
        "real": 13 * 337,
        "attention check": 672,
        "filler": 211,
        "tutorial": 336,
    }
    assert len({(found.system, found.line) for found in campaign.real()}) == 13 * 337
    assert len({found.annotator for found in campaign.real()}) == 12
