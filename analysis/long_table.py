"""Tables of users: CSV files with named columns of text and numbers, read fast and checked."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from challenge_sets import InputError

MISSING = ("", "NA", "NaN", "nan", "None", "null")
"""Spellings of a missing number; in a text column they are text."""


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column of text: ``codes`` (shape ``(n,)``) numbers ``levels``, which stand in order of appearance."""

    levels: tuple[str, ...]
    codes: NDArray[np.intp]


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
) -> LongTable:
    """Read the named columns of a CSV file (UTF-8, first line names the columns); others are passed over.

    ``optional`` names those of ``text`` and ``numbers`` that may be absent. Raises ``InputError`` for a
    missing file, a missing or repeated column, no rows, an empty text field (a key without a value), and a
    number that is none or infinite, with its line.
    """
    path = Path(path)
    header = _header(path)
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
    frame = _frame(path, wanted)
    if frame.empty:
        raise InputError("the table has no rows", path=path)
    return LongTable(
        path,
        len(frame),
        {name: _text(frame[name], path) for name in text if name in wanted},
        {name: _numbers(frame[name], path) for name in numbers if name in wanted},
    )


def _header(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            return next(csv.reader(stream), [])
    except FileNotFoundError:
        raise InputError("no such file", path=path) from None
    except IsADirectoryError:
        raise InputError("is a directory, expected a CSV file", path=path) from None
    except UnicodeDecodeError:
        raise InputError("not UTF-8", path=path, line=1) from None
    except csv.Error as error:
        raise InputError(f"broken CSV ({error})", path=path, line=1) from None


def _frame(path: Path, columns: Sequence[str]) -> Any:
    import pandas as pd

    try:
        return pd.read_csv(
            path,
            usecols=list(columns),
            dtype=dict.fromkeys(columns, "category"),
            keep_default_na=False,
            na_filter=False,
            encoding="utf-8-sig",
        )
    except UnicodeDecodeError:
        raise InputError("not UTF-8", path=path, hint="convert the file to UTF-8 first") from None
    except pd.errors.ParserError as error:
        raise InputError(f"broken CSV ({str(error).strip()})", path=path) from None


def _text(column: Any, path: Path) -> TextColumn:
    names = [str(name) for name in column.cat.categories]
    codes = column.cat.codes.to_numpy(dtype=np.intp)
    if "" in names:
        raise InputError(
            f"the column {column.name!r} is empty", path=path, line=_line(codes == names.index(""))
        )
    used, first = np.unique(codes, return_index=True)
    order = used[np.argsort(first)]
    place = np.zeros(len(names), dtype=np.intp)
    place[order] = np.arange(order.size)
    return TextColumn(tuple(names[number] for number in order), place[codes])


def _numbers(column: Any, path: Path) -> NDArray[np.float64]:
    # Each distinct spelling is parsed once: Python's float() is the last word on what a number is.
    codes = column.cat.codes.to_numpy(dtype=np.intp)
    values = np.empty(len(column.cat.categories))
    for place, spelling in enumerate(column.cat.categories):
        text = str(spelling).strip()
        try:
            values[place] = np.nan if text in MISSING else float(text)
        except ValueError:
            values[place] = np.inf
        if np.isinf(values[place]):
            raise InputError(
                f"{spelling!r} in column {column.name!r} is not a finite number",
                path=path,
                line=_line(codes == place),
                hint="a missing number is an empty field",
            )
    return values[codes]


def _line(here: NDArray[np.bool_]) -> int:
    """The line of the first row where ``here`` holds, as long as no field holds a line end."""
    return int(np.argmax(here)) + 2
