"""Tables with a column map: TSV without quoting, CSV with it, and JSONL."""

from __future__ import annotations

import csv
import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from challenge_sets.errors import InputError
from challenge_sets.files import locating, read_jsonl, read_lines
from challenge_sets.languages import normalise_language
from challenge_sets.readers.base import READERS, Reader, ReadOptions, checked
from challenge_sets.records import Translation, Turn
from challenge_sets.report import DataReport

FIELDS = (
    "item",
    "doc",
    "position",
    "system",
    "source",
    "hypothesis",
    "reference",
    "context",
    "source_lang",
    "target_lang",
    "domain",
    "meta",
)
"""Fields that ``--columns FIELD=COLUMN`` can map; a column that bears a field's name needs no mapping."""

DEFAULT_SYSTEM = "system"


class TableReader(Reader):
    """``--input FILE [--columns FIELD=COLUMN,…]``: one translation a row.

    Columns that no field uses go to ``meta``. Without an ``item`` column the rows are numbered; without
    ``doc`` every row is a document of its own; without ``position`` the rows of a document are counted;
    without ``system`` all rows are of one system, ``system``. Languages come from their columns, or from
    the options; where both are there, the options select rows.
    """

    uses = Reader.uses | {"columns"}

    def __init__(self, options: ReadOptions) -> None:
        super().__init__(options)
        self.path = options.need_input(f"a {self.format.upper()} file")
        unknown = sorted(set(options.columns) - set(FIELDS))
        if unknown:
            raise InputError(f"--columns: no field {', '.join(unknown)}", hint=f"fields: {', '.join(FIELDS)}")

    @property
    def files(self) -> tuple[Path, ...]:
        """The table."""
        return (self.path,)

    @abstractmethod
    def rows(self, report: DataReport) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield ``(line number, column → value)``; every row has the same columns but in JSONL."""

    def translations(self, report: DataReport) -> Iterator[Translation]:
        """Stream the rows of the wanted language pair."""
        return checked(self._translations(report), self.path)

    def _translations(self, report: DataReport) -> Iterator[Translation]:
        previous: dict[str, tuple[str, int]] = {}
        number = 0
        only: str | None = None
        for number, (line, row) in enumerate(self.rows(report), 1):
            if number == 1:
                self._check_columns(row)
            with locating(self.path, line):
                normalise = partial(report.text, path=self.path, line=line)
                cells = _Row(row, self._fields(row), normalise)
                translation = self._translation(number, cells, previous)
            only = only or translation.system
            if translation.system != only and cells.value("item") is None:
                raise InputError(
                    "several systems need an item column that says which rows translate the same segment",
                    path=self.path,
                    line=line,
                    hint="map it with --columns item=COLUMN",
                )
            wanted = (self.options.source_lang, self.options.target_lang)
            have = (translation.source_lang, translation.target_lang)
            if all(want in (None, tag) for want, tag in zip(wanted, have, strict=True)):
                yield translation
        if number == 0:
            raise InputError("the table has no rows", path=self.path)

    def _check_columns(self, row: Mapping[str, Any]) -> None:
        absent = [column for column in self.options.columns.values() if column not in row]
        absent += [
            name for name in ("source", "hypothesis") if name not in self.options.columns and name not in row
        ]
        if absent:
            raise InputError(
                f"no column {', '.join(repr(name) for name in absent)}",
                path=self.path,
                line=1,
                hint=f"map one with --columns FIELD=COLUMN; the file has: {', '.join(row)}",
            )

    def _fields(self, row: Mapping[str, Any]) -> dict[str, str]:
        """Field to column: those mapped, and the columns that bear a field's name and are not mapped."""
        mapped = dict(self.options.columns)
        free = set(row) - set(mapped.values())
        return mapped | {name: name for name in FIELDS if name in free and name not in mapped}

    def _translation(self, number: int, row: _Row, previous: dict[str, tuple[str, int]]) -> Translation:
        """One record; ``previous`` holds each system's last document and position."""
        source_lang = row.language("source_lang", self.options.source_lang)
        target_lang = row.language("target_lang", self.options.target_lang)
        item = row.label("item") or f"{source_lang}-{target_lang}/{number}"
        system = row.label("system") or DEFAULT_SYSTEM
        doc = row.label("doc") or item
        position = row.value("position")
        if position is None:
            last_doc, last = previous.get(system, ("", 0))
            position = last + 1 if last_doc == doc else 0
        previous[system] = (doc, int(position))
        return Translation(
            item=item,
            system=system,
            source=row.text("source"),
            hypothesis=row.text("hypothesis"),
            reference=None if row.value("reference") is None else row.text("reference"),
            source_lang=source_lang,
            target_lang=target_lang,
            doc=doc,
            position=int(position),
            context=tuple(map(_turn, row.value("context") or ())),
            domain=row.label("domain"),
            meta=row.rest() | dict(row.value("meta") or {}),
        )


def _turn(value: Any) -> Turn:
    if not isinstance(value, dict):
        raise ValueError('\'context\' is a list of {"speaker": …, "text": …}')
    return Turn.from_json(value)


class _Row:
    """One row seen through the column map, its strings in NFC."""

    def __init__(
        self, columns: Mapping[str, Any], fields: Mapping[str, str], normalise: Callable[[str], str]
    ) -> None:
        self._columns = columns
        self._fields = fields
        self._normalise = normalise

    def _clean(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._normalise(value)
        if isinstance(value, list):
            return [self._clean(part) for part in value]
        if isinstance(value, dict):
            return {self._clean(name): self._clean(part) for name, part in value.items()}
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{value} is no number that JSON can hold")
        return value

    def value(self, field: str) -> Any:
        """The field's value, ``None`` where it has no column."""
        return self._clean(self._columns.get(self._fields[field])) if field in self._fields else None

    def text(self, field: str) -> str:
        """A field that must be there and be a string; an empty string is one."""
        found = self.value(field)
        if not isinstance(found, str):
            column = self._fields.get(field, field)
            raise ValueError(f"'{column}' is {'missing' if found is None else 'not a string'}")
        return found

    def label(self, field: str) -> str | None:
        """An identifier: a non-empty string, or a whole number in JSON; ``None`` if it has no value."""
        found = self.value(field)
        if isinstance(found, int) and not isinstance(found, bool):
            return str(found)
        if found is None:
            return None
        if not self.text(field).strip():
            raise ValueError(f"'{self._fields[field]}' is empty")
        return self.text(field)

    def language(self, field: str, option: str | None) -> str:
        """The row's language, or the one that the options give."""
        spelled = self.label(field)
        if spelled is not None:
            return normalise_language(spelled)
        if option is None:
            raise ValueError("the languages are not known: give --lang-pair, e.g. --lang-pair lzh-en")
        return option

    def rest(self) -> dict[str, Any]:
        """The columns that no field uses."""
        used = set(self._fields.values())
        return self._clean({name: value for name, value in self._columns.items() if name not in used})


@READERS.register("tsv")
class TsvReader(TableReader):
    """Tab-separated, first line the header; quotes are ordinary characters, empty fields are empty texts."""

    format = "tsv"

    def rows(self, report: DataReport) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Split on tabs only."""
        lines = enumerate(read_lines(self.path, report), 1)
        return named_rows(((number, line.split("\t")) for number, line in lines), self.path)


@READERS.register("csv")
class CsvReader(TableReader):
    """Comma-separated (RFC 4180), first record the header; quoted fields may hold line ends."""

    format = "csv"

    def rows(self, report: DataReport) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Parse with the csv module, strictly."""
        csv.field_size_limit(2**31 - 1)
        parser = csv.reader((line + "\n" for line in read_lines(self.path, report)), strict=True)

        def records() -> Iterator[tuple[int, list[str]]]:
            while True:
                line = parser.line_num + 1
                try:
                    record = next(parser)
                except StopIteration:
                    return
                except csv.Error as error:
                    raise InputError(f"broken CSV: {error}", path=self.path, line=parser.line_num) from error
                if record:
                    yield line, record

        return named_rows(records(), self.path)


@READERS.register("jsonl")
class JsonlReader(TableReader):
    """One JSON object a line; ``context`` is a list of ``{speaker, text}``, ``meta`` an object."""

    format = "jsonl"

    def rows(self, report: DataReport) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """The objects as they are."""
        return read_jsonl(self.path, report)


def named_rows(records: Iterator[tuple[int, list[str]]], path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Name the fields of each record by the first one; refuse records of another length."""
    _, header = next(records, (1, []))
    if not header or len(set(header)) != len(header):
        raise InputError("the first line must name the columns, each once", path=path, line=1)
    for line, record in records:
        if len(record) != len(header):
            raise InputError(f"{len(record)} fields, the header has {len(header)}", path=path, line=line)
        yield line, dict(zip(header, record, strict=True))
