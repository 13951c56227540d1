"""Tables of users: CSV files with named columns of text and numbers, read fast and checked."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from challenge_sets import InputError

MISSING = ("", "NA", "NaN", "nan", "None", "null")
"""Spellings of a missing number; in a text column they are text."""

LARGEST = 1e100
"""Numbers beyond this overflow once they are squared and summed."""
_CHUNK = 2_000
"""Rows held as Python strings at a time: few enough to stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column of text: ``codes`` (shape ``(n,)``) numbers ``levels``, which stand in order of appearance."""

    levels: tuple[str, ...]
    codes: NDArray[np.intp]

    def by_name(self) -> TextColumn:
        """The same column with its levels in alphabetical order: nothing then depends on which came first."""
        order = sorted(range(len(self.levels)), key=self.levels.__getitem__)
        place = np.empty(len(order), dtype=np.intp)
        place[np.array(order, dtype=np.intp)] = np.arange(len(order))
        return TextColumn(tuple(self.levels[number] for number in order), place[self.codes])


@dataclass(frozen=True, slots=True)
class LongTable:
    """Columns by name, all of one length. Numbers are float64 with NaN where missing."""

    path: Path
    rows: int
    text: dict[str, TextColumn]
    numbers: dict[str, NDArray[np.float64]]


def read_long_table(
    path: str | Path,
    *,
    text: Sequence[str] = (),
    numbers: Sequence[str] = (),
    optional: Sequence[str] = (),
    sparse: Sequence[str] = (),
) -> LongTable:
    """Read the named columns of a CSV file (UTF-8, first line names the columns); others are passed over.

    ``optional`` names those of ``text`` and ``numbers`` that may be absent, ``sparse`` those of ``text``
    whose fields may be empty. Text is taken as it stands: ``01``, ``1`` and ``1.0`` are three names. Empty
    lines are passed over. Raises ``InputError`` for a missing file, a missing or repeated column, no rows, a
    row with more or fewer fields than the first line, any other empty text field (a key without a value),
    and a number that is none, infinite or beyond 1e100, with its line.
    """
    path = Path(path)
    with _reader(path) as reader:
        header: list[str] = next(reader, [])
        wanted = [name for name in (*text, *numbers) if name in header or name not in optional]
        lacking = [name for name in wanted if name not in header]
        if lacking:
            raise InputError(
                f"no column {', '.join(map(repr, lacking))}",
                path=path,
                line=1,
                hint=f"the columns are {', '.join(header)}",
            )
        repeated = [name for name in wanted if header.count(name) > 1]
        if repeated:
            raise InputError(f"the column {repeated[0]!r} stands twice", path=path, line=1)
        texts = {name: _Text() for name in text if name in wanted}
        values = {name: _Numbers(name) for name in numbers if name in wanted}
        count = 0
        rows = filter(None, reader)
        while chunk := list(islice(rows, _CHUNK)):
            _check_widths(chunk, len(header), path, count)
            columns = list(zip(*chunk, strict=True))
            for name, text_column in texts.items():
                text_column.add(columns[header.index(name)])
            for name, number_column in values.items():
                number_column.add(columns[header.index(name)], path, count)
            count += len(chunk)
    if not count:
        raise InputError("the table has no rows", path=path)
    for name, text_column in texts.items():
        if name not in sparse:
            text_column.refuse_empty(name, path)
    return LongTable(
        path,
        count,
        {name: column.finish() for name, column in texts.items()},
        {name: np.concatenate(column.parts) for name, column in values.items()},
    )


def line_of(path: str | Path, row: int) -> int:
    """The line on which a row of the table begins; row 0 is the first below the header.

    Counted in the file, because empty lines and fields of several lines put rows out of step with lines.
    """
    with _reader(Path(path)) as reader:
        seen, before = -2, 0
        for fields in reader:
            seen += bool(fields)
            if seen == row:
                break
            before = reader.line_num
    return before + 1


@contextmanager
def _reader(path: Path) -> Iterator[Any]:
    """The rows of a CSV file as lists of text, with what can go wrong with the file as ``InputError``."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            try:
                yield reader
            except UnicodeDecodeError:
                raise InputError("not UTF-8", path=path, hint="convert the file to UTF-8 first") from None
            except csv.Error as error:
                raise InputError(f"broken CSV ({error})", path=path, line=reader.line_num) from None
    except FileNotFoundError:
        raise InputError("no such file", path=path) from None
    except IsADirectoryError:
        raise InputError("is a directory, expected a CSV file", path=path) from None


def _check_widths(chunk: Sequence[Sequence[str]], width: int, path: Path, before: int) -> None:
    for place, row in enumerate(chunk):
        if len(row) != width:
            raise InputError(
                f"a row of {len(row)} fields, the first line has {width}",
                path=path,
                line=line_of(path, before + place),
                hint="a field with a comma or a line end in it stands in quotes",
            )


@dataclass(slots=True)
class _Text:
    """A column of text in the making: numbers for its levels, codes by chunk."""

    levels: dict[str, int] = field(default_factory=dict)
    parts: list[NDArray[np.intp]] = field(default_factory=list)

    def add(self, column: Sequence[str]) -> None:
        levels = self.levels
        codes = (levels.setdefault(name, len(levels)) for name in column)
        self.parts.append(np.fromiter(codes, dtype=np.intp, count=len(column)))

    def refuse_empty(self, name: str, path: Path) -> None:
        if "" in self.levels:
            row = int(np.argmax(np.concatenate(self.parts) == self.levels[""]))
            raise InputError(f"the column {name!r} is empty", path=path, line=line_of(path, row))

    def finish(self) -> TextColumn:
        return TextColumn(tuple(self.levels), np.concatenate(self.parts))


@dataclass(slots=True)
class _Numbers:
    """A column of numbers in the making, values by chunk."""

    name: str
    parts: list[NDArray[np.float64]] = field(default_factory=list)

    def add(self, column: Sequence[str], path: Path, before: int) -> None:
        try:
            # Only whole chunks of plain numbers come through here; anything else is looked at one by one.
            values = np.fromiter(map(float, column), dtype=np.float64, count=len(column))
            plain = bool(np.isfinite(values).all()) and "_" not in "".join(column)
        except ValueError:
            plain = False
        if not plain:
            values = np.fromiter(map(_number, column), dtype=np.float64, count=len(column))
        wrong = np.abs(values) > LARGEST
        if wrong.any():
            place = int(np.argmax(wrong))
            raise InputError(
                f"{column[place]!r} in column {self.name!r} is "
                + ("not a finite number" if np.isinf(values[place]) else "too large to compute with"),
                path=path,
                line=line_of(path, before + place),
                hint="a missing number is an empty field",
            )
        self.parts.append(values)


def _number(text: str) -> float:
    """The number, NaN where it is missing, infinity where it is none; Python's ``1_000`` is none."""
    text = text.strip()
    if text in MISSING:
        return np.nan
    try:
        value = float(text)
    except ValueError:
        return np.inf
    return np.inf if np.isnan(value) or "_" in text else value
