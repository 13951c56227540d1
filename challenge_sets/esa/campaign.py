"""A campaign's file as annotations: each row with its output, and the last save of each item."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from challenge_sets.annotations import ANNOTATION_KINDS, Annotation, AnnotationKind
from challenge_sets.errors import InputError
from challenge_sets.esa.places import LineNumbers, OutputTexts, Place, SegmentTable, Tasks
from challenge_sets.esa.rows import Row, read_rows
from challenge_sets.files import locating, read_lines
from challenge_sets.readers.table import named_rows
from challenge_sets.report import DataReport

Protocol = Literal["ESA", "MQM"]
"""ESA: a score from 0 to 100 and untyped errors. MQM: typed errors, and a slider that means nothing."""

_ANNOTATOR_COLUMNS = ("annotator", "AnnotatorID")


@dataclass(frozen=True, slots=True)
class Sources:
    """What is known of a campaign beside its own file.

    ``batches``: the JSON tasks it was set up with. ``segments``: a TSV of itemIDs. With neither, an itemID is
    a line number from 0. ``outputs``: an mt-metrics-eval directory with the texts that were judged, their
    documents and domains. ``annotators``: the person behind each login. ``languages``: the pair to select,
    where the file has several.
    """

    batches: Path | None = None
    segments: Path | None = None
    outputs: Path | None = None
    annotators: Mapping[str, str] = field(default_factory=dict)
    languages: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        if self.batches and self.segments:
            raise InputError(
                "a campaign's items are found by its tasks or by a table of segments, not by both"
            )


@dataclass(frozen=True, slots=True)
class Campaign:
    """A campaign: ``saves`` is every row, ``annotations`` the last save of each item; both by time.

    ``language_pair`` and ``segments`` (how many the corpus has) are as the directory of outputs says; without
    one the pair is made of the tags, and ``segments`` is ``None``.
    """

    name: str
    path: Path
    protocol: Protocol
    language_pair: str
    segments: int | None
    saves: tuple[Annotation, ...]
    annotations: tuple[Annotation, ...]

    def counts(self) -> dict[AnnotationKind, int]:
        """Annotations of each kind, earlier saves of the same item not counted."""
        found = Counter(annotation.kind for annotation in self.annotations)
        return {kind: found[kind] for kind in ANNOTATION_KINDS}

    def real(self) -> tuple[Annotation, ...]:
        """The annotations that count: no tutorial, no damaged translation, no filler copy."""
        return tuple(annotation for annotation in self.annotations if annotation.kind == "real")


def read_campaign(path: str | Path, name: str, sources: Sources, report: DataReport) -> Campaign:
    """Read a campaign's CSV file (12 columns, no header) as exported by the annotation tool.

    Of an item that one login saved again the latest ``end_time`` counts, and at equal times the row further
    down. The protocol is MQM where any error is typed, and ESA otherwise. Raises ``InputError`` with file and
    line for a row that is no annotation, whose output cannot be found, or whose errors do not fit its text.
    """
    path = Path(path)
    rows = _select(list(read_rows(path, report)), path, sources)
    protocol: Protocol = "MQM" if any(span.category for row in rows for span in row.spans) else "ESA"
    pair = (rows[0].source_lang, rows[0].target_lang)
    texts = OutputTexts(sources.outputs, *pair, report) if sources.outputs else None
    places = _places(rows, path, sources, texts, report)
    if sources.annotators:
        unknown = {row.login for row in rows} - set(sources.annotators)
        report.note("login without an annotator, taken as a person of its own", path.name, times=len(unknown))
    saves = []
    for row in rows:
        with locating(path, row.number):
            saves.append(_annotation(row, places.get(row.number), name, protocol, sources))
    order = sorted(range(len(rows)), key=lambda index: (rows[index].start_time, rows[index].login, index))
    kept = _last_saves(rows, saves, path, report)
    return Campaign(
        name=name,
        path=path,
        protocol=protocol,
        language_pair=texts.pair if texts else "-".join(pair),
        segments=texts.segments if texts else None,
        saves=tuple(saves[index] for index in order),
        annotations=tuple(saves[index] for index in order if index in kept),
    )


def _select(rows: list[Row], path: Path, sources: Sources) -> list[Row]:
    if not rows:
        raise InputError("the campaign has no rows", path=path)
    pairs = Counter((row.source_lang, row.target_lang) for row in rows)
    names = ", ".join("-".join(pair) for pair in pairs)
    if sources.languages is None:
        if len(pairs) > 1:
            raise InputError(
                f"rows of several language pairs: {names}", path=path, hint="choose one with --lang-pair"
            )
        return rows
    if sources.languages not in pairs:
        raise InputError(f"no rows of {'-'.join(sources.languages)}", path=path, hint=f"the file has {names}")
    return [row for row in rows if (row.source_lang, row.target_lang) == sources.languages]


def _places(
    rows: list[Row], path: Path, sources: Sources, texts: OutputTexts | None, report: DataReport
) -> dict[int, Place]:
    """The output of each row but the tutorial's, by the row's line number."""
    wanted = [row for row in rows if row.kind != "tutorial"]
    finder: Tasks | SegmentTable | LineNumbers = LineNumbers()
    if sources.batches:
        finder = Tasks(sources.batches, report)
    elif sources.segments:
        finder = SegmentTable(sources.segments, report)
    places = finder.locate(wanted, path)
    return {
        row.number: texts.complete(row, place, path) if texts else place
        for row, place in zip(wanted, places, strict=True)
    }


def _annotation(
    row: Row, place: Place | None, campaign: str, protocol: Protocol, sources: Sources
) -> Annotation:
    return Annotation(
        campaign=campaign,
        login=row.login,
        annotator=sources.annotators.get(row.login, row.login),
        system=place.system if place else row.system,
        doc=place.doc if place else row.doc,
        line=place.line if place else None,
        kind=row.kind,
        score=row.score if protocol == "ESA" else None,
        spans=row.spans,
        start_time=row.start_time,
        end_time=row.end_time,
        item=row.item,
        document_id=row.document_id,
        text=place.text if place else None,
        domain=place.domain if place else None,
    )


def _last_saves(rows: list[Row], saves: list[Annotation], path: Path, report: DataReport) -> set[int]:
    kept: dict[tuple[str, str, int, str], int] = {}
    for index, row in enumerate(rows):
        key = (row.login, row.system, row.item, row.document_id)
        other = kept.setdefault(key, index)
        if other == index:
            continue
        report.note("earlier save of an item left out", f"{path.name}:{row.number}")
        before, now = saves[other], saves[index]
        if before.end_time == now.end_time and (before.score, before.spans) != (now.score, now.spans):
            report.note(
                "two saves at one time that differ, the lower row is kept", f"{path.name}:{row.number}"
            )
        if before.end_time <= now.end_time:
            kept[key] = index
    return set(kept.values())


def read_annotators(path: str | Path, report: DataReport) -> dict[str, str]:
    """Read the person behind each login: a CSV (or ``.tsv``) file with ``login`` and ``annotator``.

    ``AnnotatorID`` is another name for the second column; columns without a name are passed over. Raises
    ``InputError`` for a column that is not there, an empty field, and a login with two annotators.
    """
    path = Path(path)
    lines = list(read_lines(path, report))
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    found: dict[str, str] = {}
    records = csv.reader(lines, delimiter=delimiter)
    for number, row in named_rows(_named_columns(records), path):
        column = next((name for name in _ANNOTATOR_COLUMNS if name in row), None)
        if column is None or "login" not in row:
            raise InputError(
                "needs the columns 'login' and 'annotator'",
                path=path,
                line=1,
                hint=f"it has {', '.join(row)}",
            )
        if not row["login"] or not row[column]:
            raise InputError("an empty field", path=path, line=number)
        if found.setdefault(row["login"], row[column]) != row[column]:
            raise InputError(f"the login {row['login']} has two annotators", path=path, line=number)
    return found


def _named_columns(records: Iterable[list[str]]) -> Iterator[tuple[int, list[str]]]:
    """Numbered records without the columns that have no name (a spreadsheet's empty ones)."""
    named: list[int] | None = None
    for number, record in enumerate(records, 1):
        if named is None:
            named = [place for place, name in enumerate(record) if name.strip()]
        if record:
            yield number, [record[place] for place in named if place < len(record)]
