"""A report as LaTeX: booktabs tables, cells coloured by tone, all text escaped.

The file can be read into a paper with ``\\input`` or compiled as it is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from analysis.printing.render import Report, Sheet, Tone, legend_line

_COLOURS: dict[Tone, str] = {
    "good": "green!18",
    "bad": "red!18",
    "doubtful": "yellow!28",
    "neutral": "black!8",
}

# Text commands that every encoding has, and symbols of LaTeX's own mathematics: no further package.
_SPELLINGS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    '"': "''",
    "[": "{[}",
    "]": "{]}",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "\u00a0": "~",
    "−": "$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≈": r"$\approx$",
    "≃": r"$\simeq$",
    "∅": r"$\emptyset$",
    "●": r"$\bullet$",
    "○": r"$\circ$",
    "▼": r"$\bigtriangledown$",
    "▲": r"$\bigtriangleup$",
    "✕": r"$\otimes$",
    "↓": r"$\downarrow$",
    "↑": r"$\uparrow$",
    "Δ": r"$\Delta$",
    "≠": r"$\neq$",
    "‸": r"$\wedge$",
    "τ": r"$\tau$",
    "κ": r"$\kappa$",
    "μ": r"$\mu$",
    "²": r"$^2$",
    "α": r"$\alpha$",
}

# Letters that decomposition does not take apart.
_LETTERS = {
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "œ": r"\oe{}",
    "ł": r"\l{}",
}
_ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r",
    "\u030b": "H",
    "\u030c": "v",
    "\u0327": "c",
}

_HEAD = r"""% Read it into a paper with \input, or compile it as it is. In a paper, the preamble needs:
%   \usepackage{booktabs,longtable}
%   \usepackage[table]{xcolor}
% The tables of every cell are wide: give them a landscape page (pdflscape), or leave them to an appendix.
\expandafter\ifx\csname @nodocument\endcsname\relax
  \let\BlindspotsEnd\relax
\else
  \documentclass{article}
  \usepackage[a3paper,landscape,margin=15mm]{geometry}
  \usepackage{booktabs,longtable}
  \usepackage[table]{xcolor}
  \begin{document}
  \def\BlindspotsEnd{\end{document}}
\fi
"""


def to_latex(report: Report) -> str:
    """The report's sheets as LaTeX tables, each with the part of the legend that it uses."""
    body = [
        (_long if sheet.long else _float)(sheet, escape(legend_line(_used(sheet, report.legend))))
        for sheet in report.sheets
    ]
    title = f"% {' '.join(report.title.split())}\n"
    return title + _HEAD + "\n" + "\n".join(body) + "\n\\BlindspotsEnd\n"


def escape(text: str) -> str:
    """Spell text so that pdflatex prints it; a character it has no letters for becomes its code point."""
    return "".join(_spell(char) for char in re.sub(r"[ \t\r\n]+", " ", unicodedata.normalize("NFC", text)))


def _spell(char: str) -> str:
    if char in _SPELLINGS:
        return _SPELLINGS[char]
    if char.isascii() and char.isprintable():
        return char
    if char in _LETTERS:
        return _LETTERS[char]
    base, *marks = list(unicodedata.normalize("NFKD", char))
    if base.isascii() and base.isalnum() and all(mark in _ACCENTS for mark in marks):
        for mark in marks:
            base = f"\\{_ACCENTS[mark]}{{{base}}}"
        return base
    return f"{{[}}U+{ord(char):04X}{{]}}"


def _row(sheet: Sheet, number: int) -> str:
    fields = []
    for entry in sheet.rows[number]:
        field = "".join(
            rf"\textbf{{{escape(text)}}}" if marked else escape(text) for text, marked in entry.pieces()
        )
        field += f"$^{{{entry.stars}}}$" if entry.stars else ""
        field = " ".join(part for part in (field, escape(entry.mark)) if part)
        fields.append(rf"\cellcolor{{{_COLOURS[entry.tone]}}}{field}" if entry.tone else field)
    return " & ".join(fields) + r" \\"


def _heading(sheet: Sheet) -> str:
    return " & ".join(escape(column.heading) for column in sheet.columns) + r" \\"


def _used(sheet: Sheet, legend: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    entries = [entry for row in sheet.rows for entry in row]
    marks = {entry.mark for entry in entries} | {entry.stars[:1] for entry in entries}
    return [(mark, meaning) for mark, meaning in legend if mark in marks]


def _caption(sheet: Sheet) -> str:
    text = escape(" ".join((sheet.title + ".", *sheet.caption)))
    return rf"\caption{{{text}}}\label{{tab:{sheet.label}}}"


def _spec(sheet: Sheet) -> str:
    return "".join(column.align[0] for column in sheet.columns)


def _float(sheet: Sheet, legend: str) -> str:
    return "\n".join(
        [
            r"\begin{table}[!htbp]",
            r"\centering\footnotesize\setlength{\tabcolsep}{4pt}",
            _caption(sheet),
            rf"\begin{{tabular}}{{{_spec(sheet)}}}",
            r"\toprule",
            _heading(sheet),
            r"\midrule",
            *(_row(sheet, number) for number in range(len(sheet.rows))),
            r"\bottomrule",
            r"\end{tabular}",
            rf"\par\smallskip {legend}",
            r"\end{table}",
            "",
        ]
    )


def _long(sheet: Sheet, legend: str) -> str:
    return "\n".join(
        [
            r"{\scriptsize\setlength{\tabcolsep}{3pt}\setlength{\LTcapwidth}{\linewidth}",
            rf"\begin{{longtable}}{{{_spec(sheet)}}}",
            _caption(sheet) + r"\\",
            r"\toprule",
            _heading(sheet),
            r"\midrule\endfirsthead",
            r"\toprule",
            _heading(sheet),
            r"\midrule\endhead",
            r"\bottomrule\endfoot",
            *(_row(sheet, number) for number in range(len(sheet.rows))),
            r"\end{longtable}",
            rf"\noindent {legend}\par}}",
            "",
        ]
    )
