"""Printed tables, whatever they hold: a small model of a sheet, and Markdown, plain text and CSV made of it.

LaTeX has its own module. An analysis lays its results out as a ``Report``; nothing here knows what
the numbers mean.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Tone = Literal["good", "bad", "doubtful", "neutral"]
"""What an entry's colour says, where the format has colours."""

Align = Literal["left", "right", "center"]


PLACE = "‸"
"""Marks a place in a text where something is missing."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a sheet: text, significance stars, a mark that is read without colour, a tone.

    ``highlight`` holds half-open code-point spans of the text, in order and apart; an empty span is a place.
    """

    text: str = ""
    stars: str = ""
    mark: str = ""
    tone: Tone | None = None
    highlight: tuple[tuple[int, int], ...] = ()

    def pieces(self) -> Iterator[tuple[str, bool]]:
        """The text in parts, each with whether it is highlighted; an empty span is ``PLACE``."""
        done = 0
        for start, end in self.highlight:
            yield self.text[done:start], False
            yield self.text[start:end] or PLACE, True
            done = end
        yield self.text[done:], False


@dataclass(frozen=True, slots=True)
class Column:
    """A column's heading and alignment."""

    heading: str
    align: Align = "right"


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table. ``label`` is its short ASCII name, ``caption`` sentences; a row has one entry a column."""

    label: str
    title: str
    caption: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: tuple[tuple[Entry, ...], ...]
    long: bool = False
    """Whether it may run over several pages."""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{self.label}: a row of {len(row)} entries, {len(self.columns)} columns")


@dataclass(frozen=True, slots=True)
class Report:
    """Sheets under one title, with an introduction, a legend (mark, meaning) and notes."""

    title: str
    introduction: tuple[str, ...]
    sheets: tuple[Sheet, ...]
    legend: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


# Names come from outside: a terminal would obey what such characters begin.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def to_markdown(report: Report) -> str:
    """The report in GitHub's Markdown, all text escaped."""
    lines = [f"# {_escape(report.title)}", ""]
    for paragraph in report.introduction:
        lines += [_escape(paragraph), ""]
    if report.legend:
        lines += [*(f"- {_escape(mark)} {_escape(meaning)}" for mark, meaning in report.legend), ""]
    for sheet in report.sheets:
        lines += [f"## {_escape(sheet.title)}", "", _escape(" ".join(sheet.caption)), ""]
        lines.append(_markdown_row(_escape_entry(column.heading) for column in sheet.columns))
        rules = {"left": ":--", "right": "--:", "center": ":-:"}
        lines.append(_markdown_row(rules[column.align] for column in sheet.columns))
        # One run of stars after a number opens no emphasis, so that it needs no backslashes.
        lines += [
            _markdown_row(_joined(_markdown_text(entry), entry.stars, entry.mark) for entry in row)
            for row in sheet.rows
        ]
        lines.append("")
    if report.notes:
        lines += ["## Notes", "", *(f"- {_escape(note)}" for note in report.notes), ""]
    return "\n".join(lines)


def to_text(sheet: Sheet) -> str:
    """One sheet in aligned columns, for a terminal."""
    table = [[column.heading for column in sheet.columns]]
    table += [[_joined(_plain_text(entry), entry.stars, entry.mark) for entry in row] for row in sheet.rows]
    widths = [max(_width(row[place]) for row in table) for place in range(len(sheet.columns))]
    lines = [sheet.title, ""]
    for number, row in enumerate(table):
        padded = [
            _pad(text, width, column.align)
            for text, width, column in zip(row, widths, sheet.columns, strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
        if number == 0:
            lines.append("  ".join("-" * width for width in widths))
    return "\n".join(_CONTROL.sub("\ufffd", line) for line in lines)


def to_csv(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Comma-separated values at full precision, one mapping a row; ``None`` is an empty field.

    ``ValueError`` for a float that is not finite: missing must be missing.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_csv_field(row[name]) for name in columns])
    return stream.getvalue()


def legend_line(legend: Iterable[tuple[str, str]]) -> str:
    """The legend in one line: ``● detected · ○ insensitive``."""
    return " · ".join(f"{mark} {meaning}" for mark, meaning in legend)


def number(value: float | None, decimals: int) -> str:
    """A number with a real minus sign and no negative zero; ``None`` is empty."""
    if value is None:
        return ""
    text = f"{value:.{decimals}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def _csv_field(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        if value - value != 0:
            raise ValueError(f"{value} in a table")
        return repr(value)
    if isinstance(value, Mapping):
        return ";".join(f"{key}={count}" for key, count in value.items())
    return str(value)


def _joined(text: str, stars: str, mark: str) -> str:
    return " ".join(part for part in (text + stars, mark) if part)


def _markdown_text(entry: Entry) -> str:
    # An HTML element, because two asterisks beside a space or inside a word would open no emphasis.
    return "".join(
        f"<b>{_escape_entry(text)}</b>" if marked else _escape_entry(text) for text, marked in entry.pieces()
    )


def _plain_text(entry: Entry) -> str:
    return "".join(f"[{text}]" if marked else text for text, marked in entry.pieces())


def _markdown_row(fields: Iterable[str]) -> str:
    return "| " + " | ".join(fields) + " |"


def _escape(text: str) -> str:
    """Escape what Markdown would read as markup, and no more: the file is read as text, too."""
    flat = _CONTROL.sub("\ufffd", re.sub(r"\s+", " ", text))
    flat = re.sub(r"([\\`*\[\]~$])", r"\\\1", flat)
    # Inside a word an underscore is no emphasis; < and & start something only before certain characters.
    flat = re.sub(r"(?<![^\W_])_|_(?![^\W_])", r"\\_", flat)
    return re.sub(r"<(?=[a-zA-Z/!?])|&(?=[#a-zA-Z])|^(?=[-+#>](?:\s|$))", r"\\\g<0>", flat)


def _escape_entry(text: str) -> str:
    return _escape(text).replace("|", "\\|")


def _width(text: str) -> int:
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def _pad(text: str, width: int, align: Align) -> str:
    room = " " * (width - _width(text))
    if align == "center":
        half = len(room) // 2
        return room[:half] + text + room[half:]
    return text + room if align == "left" else room + text
