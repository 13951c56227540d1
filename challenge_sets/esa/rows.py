"""The rows of a campaign's CSV file, parsed and checked, before it is known which segment each is about."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from challenge_sets.annotations import AnnotationKind, ErrorSpan
from challenge_sets.errors import InputError
from challenge_sets.files import locating, parse_json, read_lines
from challenge_sets.languages import normalise_language
from challenge_sets.report import DataReport

COLUMNS = (
    "login",
    "system",
    "itemID",
    "type",
    "source language",
    "target language",
    "score",
    "documentID",
    "complete document",
    "error_spans",
    "start_time",
    "end_time",
)
"""The columns by position: the file has no header."""

MISSING = "missing"
"""What both offsets of an omission say."""

_MARK = re.compile(r"(bad|duplicate|dup|incomplete)\d*")
_TUTORIAL = re.compile(r"(?:.*-)?tutorial\d*")


@dataclass(frozen=True, slots=True)
class Row:
    """One row: ``doc`` is ``document_id`` without its markers and without the system's name."""

    number: int
    login: str
    system: str
    item: int
    kind: AnnotationKind
    source_lang: str
    target_lang: str
    score: float
    document_id: str
    doc: str
    spans: tuple[ErrorSpan, ...]
    start_time: float
    end_time: float


def read_rows(path: Path, report: DataReport) -> Iterator[Row]:
    """Yield the rows in the file's order. ``InputError`` names the line of the first row that is none."""
    csv.field_size_limit(2**31 - 1)
    parser = csv.reader((line + "\n" for line in read_lines(path, report)), strict=True)
    while True:
        number = parser.line_num + 1
        try:
            fields = next(parser)
        except StopIteration:
            return
        except csv.Error as error:
            raise InputError(f"broken CSV: {error}", path=path, line=parser.line_num) from error
        if not fields:
            report.note("blank line in a campaign file skipped", f"{path.name}:{number}")
            continue
        if len(fields) != len(COLUMNS):
            raise InputError(
                f"{len(fields)} fields, a row of a campaign has {len(COLUMNS)}",
                path=path,
                line=number,
                hint=f"they are, without a header: {', '.join(COLUMNS)}",
            )
        with locating(path, number):
            yield _row(number, fields, path)


def _row(number: int, fields: list[str], path: Path) -> Row:
    login, system, item, kind, source, target, score, document_id, _, spans, start, end = fields
    doc, marks = _split(document_id, system)
    return Row(
        number=number,
        login=login,
        system=system,
        item=whole("itemID", item),
        kind=_kind(kind, system, document_id, marks),
        source_lang=normalise_language(source),
        target_lang=normalise_language(target),
        score=_number("score", score),
        document_id=document_id,
        doc=doc,
        spans=_spans(spans, path, number),
        start_time=_number("start_time", start),
        end_time=_number("end_time", end),
    )


def _split(document_id: str, system: str) -> tuple[str, tuple[str, ...]]:
    """The document's name and its markers: ``doc#system#bad3`` and ``doc#incomplete#bad`` alike."""
    parts = document_id.split("#")
    marks: list[str] = []
    while len(parts) > 1 and (mark := _MARK.fullmatch(parts[-1])):
        marks.append(mark[1])
        parts.pop()
    # Systems are `wmt23.NAME` in one column and `NAME` in the other.
    if len(parts) > 1 and parts[-1] in (system, system.partition(".")[2]):
        parts.pop()
    return "#".join(parts), tuple(marks)


def _kind(kind: str, system: str, document_id: str, marks: tuple[str, ...]) -> AnnotationKind:
    if kind not in ("TGT", "BAD"):
        raise ValueError(f"type is {kind!r}, it is TGT (a translation) or BAD (a damaged one)")
    if (kind == "BAD") != ("bad" in marks):
        raise ValueError(f"type {kind} does not fit the document {document_id!r}: a damaged one ends in #bad")
    if kind == "BAD":
        return "attention check"
    if system == document_id and _TUTORIAL.fullmatch(document_id):
        return "tutorial"
    return "filler" if marks else "real"


def _spans(text: str, path: Path, number: int) -> tuple[ErrorSpan, ...]:
    value = parse_json(text, path=path, line=number)
    if not isinstance(value, list):
        raise ValueError("error_spans is not a list")
    return tuple(map(_span, value))


def _span(value: Any) -> ErrorSpan:
    if not isinstance(value, dict):
        raise ValueError("a span is not an object")
    start, end = value.get("start_i"), value.get("end_i")
    category = value.get("error_type") or ()
    if not isinstance(category, list | tuple) or not all(isinstance(part, str) for part in category):
        raise ValueError(f"error_type {category!r} is not a list of names")
    if start == MISSING and end == MISSING:
        return ErrorSpan(None, None, value["severity"], tuple(category))
    # The file's end is the last character's own place: a span of one character starts and ends at once.
    return ErrorSpan(_offset("start_i", start), _offset("end_i", end) + 1, value["severity"], tuple(category))


def _offset(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{name} is {value!r}: offsets are whole numbers, or both '{MISSING}' (an omission)")
    return value


def whole(name: str, text: str) -> int:
    """A whole number from 0 on; ``ValueError`` names the field where there is none."""
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise ValueError(f"{name} is {text!r}, not a whole number")
    return int(text)


def _number(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{name} is {text!r}, not a number")
    return value
