"""Which output a row of a campaign is about: by its tasks, by a table of segments, or by line number."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from challenge_sets.errors import InputError
from challenge_sets.esa.rows import Row, whole
from challenge_sets.files import locating, parse_json, read_lines, read_text
from challenge_sets.json_fields import integer, string
from challenge_sets.readers.aligned import domain_and_document
from challenge_sets.readers.base import ReadOptions
from challenge_sets.readers.mtme import MtmeReader
from challenge_sets.readers.table import named_rows
from challenge_sets.report import DataReport


@dataclass(frozen=True, slots=True)
class Place:
    """One output: segment ``line`` (from 0) of ``doc`` by ``system``; ``text`` as judged, where known."""

    system: str
    line: int
    doc: str
    domain: str | None = None
    text: str | None = None


class Tasks:
    """The JSON file that a campaign was set up with: a list of tasks, each a list of ``items``.

    A row says (itemID, documentID) only, which may stand in several tasks. A login works on one task, so it
    is the task that has all of the login's rows.
    """

    def __init__(self, path: Path, report: DataReport) -> None:
        self._path = path
        self._found: dict[tuple[int, str], dict[int, Place]] = defaultdict(dict)
        tasks = parse_json(read_text(path, report), path=path)
        if not isinstance(tasks, list):
            raise InputError("not a JSON list of tasks", path=path)
        for number, task in enumerate(tasks, 1):
            with locating(path, element=number):
                for item in task["items"]:
                    # The tutorial's items are no output of a system.
                    if "_item" in item:
                        document = report.text(string(item, "documentID"), path=path)
                        self._found[integer(item, "itemID"), document][number] = _task_place(item)

    def locate(self, rows: Sequence[Row], campaign: Path) -> list[Place]:
        """The output of each row. Raises ``InputError`` for a row in no task, or in several that differ."""
        own: dict[str, set[int]] = {}
        for row in rows:
            tasks = self._found.get((row.item, row.document_id))
            if tasks is None:
                raise InputError(
                    f"item {row.item} of '{row.document_id}' is in no task of {self._path}",
                    path=campaign,
                    line=row.number,
                    hint="give the tasks that this campaign was set up with, or leave them out",
                )
            own[row.login] = own.get(row.login, set(tasks)) & set(tasks)
        return [self._locate(row, own[row.login], campaign) for row in rows]

    def _locate(self, row: Row, own: set[int], campaign: Path) -> Place:
        candidates = self._found[row.item, row.document_id]
        chosen = {place for task, place in candidates.items() if task in own} or set(candidates.values())
        if len(chosen) > 1:
            raise InputError(
                f"item {row.item} of '{row.document_id}' is another segment in each of {len(chosen)} tasks, "
                f"and the rows of {row.login} do not say which task is theirs",
                path=campaign,
                line=row.number,
            )
        return chosen.pop()


def _task_place(item: dict[str, Any]) -> Place:
    parts = string(item, "_item").split(" | ")
    if len(parts) != 3:
        raise ValueError(f"_item is {item['_item']!r}, not 'system | line | document'")
    # As it is: offsets count the characters that the annotator saw.
    return Place(parts[0], whole("the line of _item", parts[1]), parts[2], text=string(item, "targetText"))


class SegmentTable:
    """A table of itemIDs: TSV with the columns ``item_id``, ``line``, ``doc_id`` and maybe ``domain``."""

    def __init__(self, path: Path, report: DataReport) -> None:
        self._path = path
        self._found: dict[int, tuple[int, str, str | None]] = {}
        numbered = ((number, line.split("\t")) for number, line in enumerate(read_lines(path, report), 1))
        for number, row in named_rows(numbered, path):
            lacking = [name for name in ("item_id", "line", "doc_id") if name not in row]
            if lacking:
                raise InputError(f"no column {', '.join(map(repr, lacking))}", path=path, line=1)
            with locating(path, number):
                item = whole("item_id", row["item_id"])
                if item in self._found:
                    raise ValueError(f"item_id {item} stands twice")
                self._found[item] = whole("line", row["line"]), row["doc_id"], row.get("domain") or None

    def locate(self, rows: Sequence[Row], campaign: Path) -> list[Place]:
        """The output of each row. Raises ``InputError`` for an itemID that is not in the table."""
        places = []
        for row in rows:
            if row.item not in self._found:
                raise InputError(f"item {row.item} is not in {self._path}", path=campaign, line=row.number)
            line, doc, domain = self._found[row.item]
            _check_document(row, doc, self._path, campaign)
            places.append(Place(row.system, line, doc, domain))
        return places


class LineNumbers:
    """No file at all: an itemID is the number of the segment's line, counted from 0."""

    def locate(self, rows: Sequence[Row], campaign: Path) -> list[Place]:
        """The output of each row. Raises ``InputError`` for an itemID of two documents: no line has two."""
        documents: dict[int, str] = {}
        for row in rows:
            doc = documents.setdefault(row.item, row.doc)
            if doc != row.doc:
                raise InputError(
                    f"item {row.item} is of '{row.doc}' here and of '{doc}' before: it is no line number",
                    path=campaign,
                    line=row.number,
                    hint="give the campaign's --batches or --segments",
                )
        return [Place(row.system, row.item, row.doc) for row in rows]


class OutputTexts:
    """The outputs themselves, from an mt-metrics-eval directory: texts, documents, domains, by line."""

    def __init__(self, directory: Path, source_lang: str, target_lang: str, report: DataReport) -> None:
        options = ReadOptions(input=directory, source_lang=source_lang, target_lang=target_lang)
        self._reader = MtmeReader(options)
        self._report = report
        self._read = cache(self._lines)
        path = directory / "documents" / f"{self._reader.pair}.docs"
        lines = enumerate(read_lines(path, report), 1)
        self._documents = [domain_and_document(line, path, number) for number, line in lines]
        self._path = path

    @property
    def pair(self) -> str:
        """The language pair as the directory spells it."""
        return self._reader.pair

    @property
    def segments(self) -> int:
        """How many segments the directory has."""
        return len(self._documents)

    def complete(self, row: Row, place: Place, campaign: Path) -> Place:
        """Add domain and text to ``place``, checking that it is of the document that the row names.

        A damaged translation stays without a text, unless the tasks had one: it is no system's output.
        """
        if place.line >= self.segments:
            raise InputError(
                f"segment {place.line} (from 0) of {self.segments} in {self._path}",
                path=campaign,
                line=row.number,
                hint="itemIDs may be no line numbers: give the campaign's --batches or --segments",
            )
        domain, doc = self._documents[place.line]
        _check_document(row, doc, self._path, campaign)
        text = place.text
        if text is None and row.kind != "attention check":
            text = self._text(row, place, campaign)
        return replace(place, domain=place.domain or domain, text=text)

    def _text(self, row: Row, place: Place, campaign: Path) -> str:
        if place.system not in self._reader.systems:
            raise InputError(
                f"no outputs of '{place.system}' in the mt-metrics-eval directory",
                path=campaign,
                line=row.number,
                hint=f"known: {', '.join(self._reader.systems)}",
            )
        return self._read(place.system)[place.line]

    def _lines(self, system: str) -> list[str]:
        """A system's outputs, not normalised: offsets count the characters that the annotator saw."""
        path = self._reader.systems[system]
        lines = read_text(path, self._report).split("\n")
        if lines[-1] == "":
            lines.pop()
        if len(lines) != self.segments:
            raise InputError(f"{len(lines)} lines, {self._path} has {self.segments}", path=path)
        return [line.removesuffix("\r") for line in lines]


def _check_document(row: Row, doc: str, known: Path, campaign: Path) -> None:
    if row.doc != doc:
        raise InputError(
            f"item {row.item} is of document '{row.doc}', but by {known} of '{doc}'",
            path=campaign,
            line=row.number,
            hint="itemIDs may be no line numbers: give the campaign's --batches or --segments",
        )
