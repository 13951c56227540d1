"""Sheets as Markdown, text, CSV and LaTeX: escaping, structure, and that LaTeX compiles."""

from __future__ import annotations

import csv
import io
import math
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.printing.latex import escape, to_latex
from analysis.printing.render import Column, Entry, Report, Sheet, number, to_csv, to_markdown, to_text

AWKWARD = r"a_b & 50 % #1 $x$ {y} \z ~ ^ <t> |p| [q] “é” 한국 ñ ß ≤ −1 … A⁠B"


def report(text: str) -> Report:
    columns = (Column("category", "left"), Column(text), Column("where", "center"))
    rows = (
        (Entry(text), Entry(number(-1.5, 2), "***", "▼", "bad"), Entry(mark="∅", tone="neutral")),
        (Entry("omitted subject"), Entry("0.10", "", "●", "good"), Entry("[x]")),
    )
    caption = (f"About {text}.", "And more.")
    return Report(
        text,
        (text,),
        (
            Sheet("short", text, caption, columns, rows),
            Sheet("long", text, caption, columns, rows, long=True),
        ),
        (("▼", "reversed"), ("●", text), ("○", "never used"), ("*", "stars")),
        (text,),
    )


def test_markdown_tables_keep_their_columns() -> None:
    text = to_markdown(report(AWKWARD))
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert len(tables) == 8
    for line in tables:
        assert len(re.findall(r"(?<!\\)\|", line)) == 4
    assert r"| omitted subject | 0.10 ● | \[x\] |" in tables
    assert "−1.50*** ▼" in tables[2]


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("snake_case and _emphasis_", r"snake_case and \_emphasis\_"),
        ("p < 0.05, <b>bold</b>", r"p < 0.05, \<b>bold\</b>"),
        ("R & D, &amp;", r"R & D, \&amp;"),
        ("*x* `y` [z](u)", r"\*x\* \`y\` \[z\](u)"),
        ("two\nlines", "two lines"),
        ("- no list", r"\- no list"),
    ],
)
def test_markdown_escapes_markup_only(text: str, escaped: str) -> None:
    assert to_markdown(Report("t", (text,), ())).splitlines()[2] == escaped


def test_text_is_aligned_by_width() -> None:
    columns = (Column("name", "left"), Column("n"))
    rows = ((Entry("한국"), Entry("1")), (Entry("x"), Entry("−12", "*", "○")))
    lines = to_text(Sheet("s", "Title", (), columns, rows)).splitlines()
    assert lines == ["Title", "", "name       n", "----  ------", "한국       1", "x     −12* ○"]


def test_csv_is_exact_and_missing_is_empty() -> None:
    rows = [{"a": 0.1 + 0.2, "b": None, "c": 'say "x", y', "d": True, "e": {"failed": 2, "truncated": 1}}]
    (found,) = csv.DictReader(io.StringIO(to_csv(list("abcde"), rows)))
    assert float(found["a"]) == 0.1 + 0.2
    assert (found["b"], found["c"], found["d"]) == ("", 'say "x", y', "true")
    assert found["e"] == "failed=2;truncated=1"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_csv_refuses_what_is_no_number(value: float) -> None:
    with pytest.raises(ValueError, match="in a table"):
        to_csv(["a"], [{"a": value}])


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [(None, 2, ""), (-0.001, 2, "0.00"), (-1.239, 2, "−1.24"), (3.0, 0, "3"), (0.0, 3, "0.000")],
)
def test_numbers(value: float | None, decimals: int, text: str) -> None:
    assert number(value, decimals) == text


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="2 entries, 1 columns"):
        Sheet("s", "t", (), (Column("a"),), ((Entry(), Entry()),))


@settings(deadline=None)
@given(st.text())
def test_latex_is_ascii_with_balanced_braces(text: str) -> None:
    escaped = escape(text)
    assert escaped.isascii()
    bare = re.sub(r"\\[{}\\]", "", escaped)
    depth = 0
    for char in bare:
        depth += (char == "{") - (char == "}")
        assert depth >= 0
    assert depth == 0
    assert not re.search(r"(?<!\\)[%#&_]", escaped)


def test_latex_structure() -> None:
    text = to_latex(report(AWKWARD))
    assert text.count(r"\toprule") == 3
    assert text.count(r"\begin{tabular}{lrc}") == text.count(r"\begin{longtable}{lrc}") == 1
    assert r"\cellcolor{red!18}$-$1.50$^{***}$ $\bigtriangledown$" in text
    assert "never used" not in text
    for row in re.findall(r"^(?:omitted subject|a\\_b).*$", text, flags=re.M):
        assert len(re.findall(r"(?<!\\)&", row)) == 2
        assert row.endswith(r"\\")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("inside", [False, True], ids=["as it is", "read into a paper"])
def test_latex_compiles(tmp_path: Path, inside: bool) -> None:
    (tmp_path / "table.tex").write_text(to_latex(report(AWKWARD)), encoding="utf-8")
    if inside:
        (tmp_path / "paper.tex").write_text(
            r"\documentclass{article}\usepackage{booktabs,longtable}\usepackage[table]{xcolor}"
            r"\begin{document}Before. \input{table} After.\end{document}",
            encoding="utf-8",
        )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex" if inside else "table.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
