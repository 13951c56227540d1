"""Users' CSV tables: what is read as it stands, what is refused, and on which line."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import long_table
from analysis.long_table import LongTable, line_of, read_long_table
from challenge_sets import InputError


@pytest.fixture
def read(tmp_path: Path):
    def go(content: str | bytes, **options: object) -> LongTable:
        path = tmp_path / "table.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_long_table(path, **{"text": ("name",), "numbers": ("value",), **options})

    return go


def names(table: LongTable, column: str = "name") -> list[str]:
    return [table.text[column].levels[code] for code in table.text[column].codes]


@pytest.mark.parametrize(
    "rows",
    [
        ["01", "1", "1.0", "1e0"],
        ["true", "TRUE", "True"],
        ["None", "NA", "null", "nan"],
        ["a, b", 'say "no"', "two\nlines", "x\u2028y", "x\u0085y"],
        [" a", "a", "a "],
    ],
)
def test_text_is_taken_as_it_stands(read, tmp_path: Path, rows: list[str]) -> None:
    path = tmp_path / "made.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([["name", "value"], *([row, "1"] for row in rows)])
    table = read(path.read_bytes())
    assert names(table) == rows
    assert table.text["name"].levels == tuple(dict.fromkeys(rows))


def test_numbers_and_missing_ones(read) -> None:
    table = read("name,value\na,1.5\na, -2 \nb,\nb,NA\nb,NaN\nb,nan\nb,None\nb,null\nc,1e3\n")
    expected = [1.5, -2.0, *[math.nan] * 6, 1000.0]
    np.testing.assert_array_equal(table.numbers["value"], expected)
    assert table.rows == 9


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_byte_order_mark_and_empty_lines(read, end: str, mark: str) -> None:
    table = read(mark + end.join(["name,other,value", "a,x,1", "", "b,y,2"]))
    assert names(table) == ["a", "b"]
    assert table.numbers["value"].tolist() == [1.0, 2.0]
    assert set(table.text) == {"name"}


def test_optional_and_sparse_columns(read) -> None:
    table = read("name,value\na,1\n", text=("name", "other"), optional=("other",))
    assert set(table.text) == {"name"}
    assert names(read("name,value\n,1\na,2\n", sparse=("name",))) == ["", "a"]


@pytest.mark.parametrize(
    ("content", "problem", "line"),
    [
        ("", "no column 'name', 'value'", 1),
        ("name;value\na;1\n", "no column 'name', 'value'", 1),
        ("name,score\na,1\n", "no column 'value'", 1),
        ("name,value,value\na,1,2\n", "'value' stands twice", 1),
        ("name,value\n", "no rows", None),
        ("name,value\na,1\n,2\n", "'name' is empty", 3),
        ("name,value\na,1\n\n\n,2\n", "'name' is empty", 5),
        ('name,value\n"a\nb",1\na,x\n', "'x' in column 'value'", 4),
        ("name,value\na,1\na,inf\n", "'inf' in column 'value'", 3),
        ("name,value\na,1\na,-nan\n", "'-nan' in column 'value'", 3),
        ("name,value\na,1e400\n", "'1e400' in column 'value'", 2),
        ("name,value\na,1_000\n", "'1_000' in column 'value'", 2),
        ("name,value\na,1,5\n", "a row of 3 fields, the first line has 2", 2),
        ("name,value\na,1\nb\n", "a row of 1 fields", 3),
        ("name,value\na\rb,1\n", "a row of 1 fields", 2),
        ('name,value\na,1\n"b,2\n', "broken CSV", 3),
        ('name,value\n"b"c,2\n', "broken CSV", 2),
        (b"name,value\n\xff,1\n", "not UTF-8", None),
    ],
)
def test_refused_with_its_line(read, content: str | bytes, problem: str, line: int | None) -> None:
    with pytest.raises(InputError) as caught:
        read(content)
    assert problem in caught.value.problem
    assert caught.value.line == line
    assert caught.value.path is not None


def test_no_file_and_a_directory(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_long_table(tmp_path / "none.csv", text=("name",))
    with pytest.raises(InputError, match="is a directory"):
        read_long_table(tmp_path, text=("name",))


field = st.text(
    st.characters(blacklist_categories=("Cs",), blacklist_characters="\r\0"), min_size=1, max_size=4
)


@given(rows=st.lists(st.tuples(field, st.floats(-1e100, 1e100)), min_size=1, max_size=12))
def test_what_is_written_comes_back_whatever_the_chunk(tmp_path_factory, rows) -> None:
    path = tmp_path_factory.mktemp("csv") / "table.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerows([("name", "value"), *((name, repr(value)) for name, value in rows)])
    tables = []
    for chunk in (1, 3, 2000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(long_table, "_CHUNK", chunk)
            tables.append(read_long_table(path, text=("name",), numbers=("value",)))
    for table in tables:
        assert names(table) == [name for name, _ in rows]
        assert table.numbers["value"].tolist() == [value for _, value in rows]
    lines = path.read_bytes().decode().split("\n")
    for row, (name, _) in enumerate(rows):
        assert name.split("\n")[0][:1] in lines[line_of(path, row) - 1] or name.startswith(("\n", '"'))


@pytest.mark.parametrize(
    ("value", "problem"), [("1e308", "too large to compute with"), ("inf", "not a finite")]
)
def test_numbers_that_overflow_are_refused_with_their_line(tmp_path: Path, value: str, problem: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"value\n1\n\n{value}\n", encoding="utf-8")
    with pytest.raises(InputError, match=problem) as error:
        read_long_table(path, numbers=("value",))
    assert ":4" in str(error.value)
