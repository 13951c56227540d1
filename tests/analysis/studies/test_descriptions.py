"""Tables that describe what went in: categories with an example, metrics with their sources."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from analysis.printing.latex import to_latex
from analysis.printing.render import Report, to_markdown, to_text
from analysis.studies.categories import categories_sheet, excerpt
from analysis.studies.metrics_used import metrics_sheet
from challenge_sets import Edit, Generator, Pair, Span, Vetting


def pair(name: str, original: str, perturbed: str, edit: Edit, **changes: Any) -> Pair:
    fields: dict[str, Any] = {
        "category": "typo",
        "kind": "error",
        "severity": "minor",
        "vetting": Vetting(),
        **changes,
    }
    return Pair(
        pair=name,
        item="i",
        system="s",
        original=original,
        perturbed=perturbed,
        edits=(edit,),
        generator=Generator("typo", "1", "rule", 0),
        **fields,
    )


CAT = pair("b", "the cat sat", "the cut sat", Edit(Span(4, 7, "cat"), Span(4, 7, "cut")))
LONG = pair(
    "a", "the cat sat down", "the sat down", Edit(Span(4, 8, "cat "), Span(4, 4, "")), severity="major"
)
OTHER = pair("c", "a b", "a, b", Edit(Span(1, 1, ""), Span(1, 2, ",")), kind="variation", category="comma")
REJECTED = pair("d", "x y", "x z", Edit(Span(2, 3, "y"), Span(2, 3, "z")), vetting=Vetting("rejected", "me"))


@pytest.mark.parametrize("order", [[CAT, LONG, OTHER, REJECTED], [REJECTED, OTHER, LONG, CAT]])
def test_each_category_has_one_example(order: list[Pair]) -> None:
    sheet = categories_sheet(order)
    assert [[entry.text for entry in row] for row in sheet.rows] == [
        ["typo", "error", "major, minor", "2", "the cat sat", "the cut sat"],
        ["comma", "acceptable variation", "minor", "1", "a b", "a, b"],
    ]
    text = to_text(sheet)
    assert "the [cat] sat" in text and "a[‸] b" in text and "a[,] b" in text


def test_an_edit_is_bold_in_every_format() -> None:
    sheet = categories_sheet([CAT])
    report = Report("t", (), (sheet,))
    assert "| the <b>cat</b> sat | the <b>cut</b> sat |" in to_markdown(report)
    assert r"the \textbf{cat} sat & the \textbf{cut} sat" in to_latex(report)


def test_a_text_cannot_make_markup_of_its_own() -> None:
    bad = pair("a", "<b>x</b> *|* y", "<b>x</b> *|* z", Edit(Span(13, 14, "y"), Span(13, 14, "z")))
    text = to_markdown(Report("t", (), (categories_sheet([bad]),)))
    assert r"\<b>x\</b> \*\|\* <b>y</b>" in text


def test_long_texts_are_cut_around_the_edit() -> None:
    text = "a" * 100 + "XY" + "b" * 100
    entry = excerpt(text, [Span(100, 102, "XY")])
    assert entry.text == "…" + "a" * 40 + "XY" + "b" * 40 + "…"
    ((start, end),) = entry.highlight
    assert entry.text[start:end] == "XY"
    assert excerpt("short", []).text == "short"
    assert excerpt(text, []).text == text[:80] + "…"


def test_metrics_with_their_sizes_and_sources(about: Callable[..., Any]) -> None:
    metrics = [
        about("chrf", citation="Popović 2015"),
        about("comet", parameters=580_900_000, citation="Rei et al. 2022", pseudo_reference="arm"),
        about("big", parameters=10_700_000_000, higher_is_better=False),
        about("tiny", parameters=12),
        about("length", sentinel=True),
    ]
    rows = [[entry.text for entry in row] for row in metrics_sheet(metrics).rows]
    assert [row[0] for row in rows] == ["chrf", "comet", "big", "tiny", "length (baseline)"]
    assert [row[2] for row in rows] == ["", "581M", "10.7B", "12", ""]
    assert (rows[1][5], rows[0][6], rows[2][4]) == ("arm", "Popović 2015", "lower")
