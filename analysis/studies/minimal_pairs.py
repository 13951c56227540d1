"""The tables of the minimal-pair study (Quinjica et al. 2026, Tables 2 to 4) from a sensitivity table.

As printed there: a row a metric, a column a category, μ (SE) with stars, coloured by what was found.
"""

from __future__ import annotations

from collections.abc import Mapping

from analysis.printing.render import Column, Entry, Sheet, number
from analysis.sensitivity.layout import LOOK, caption
from analysis.sensitivity.table import SensitivityTable
from analysis.statistics.significance import stars
from challenge_sets import KINDS, Kind

_TITLES: dict[Kind, str] = {
    "error": "Sensitivity to errors",
    "variation": "Reaction to acceptable variations",
    "control": "Baseline controls",
}


def sensitivity_sheets(table: SensitivityTable, *, label: str = "", of: str = "") -> list[Sheet]:
    """A sheet a kind of edit: metrics × categories, each entry μ (SE) with stars, mark and colour.

    ``label`` and ``of`` tell the sheets of one part of the pairs, such as a period, from the others'.
    """
    sheets = []
    for kind in KINDS:
        cells = {(cell.label, cell.category): cell for cell in table.cells if cell.kind == kind}
        if not cells:
            continue
        categories = sorted({category for _, category in cells})
        described = [cell for cell in cells.values() if not cell.sentinel] or list(cells.values())
        rows = []
        for metric in (entry.label for entry in table.metrics):
            if not any(name == metric for name, _ in cells):
                continue
            row = [Entry(metric)]
            for category in categories:
                cell = cells.get((metric, category))
                if cell is None:
                    row.append(Entry())
                    continue
                mark, tone = LOOK[cell.verdict]
                text = number(cell.mean, 3) + ("" if cell.se is None else f" ({number(cell.se, 3)})")
                row.append(Entry(text, stars(cell.p), mark, tone))
            rows.append(tuple(row))
        sheets.append(
            Sheet(
                f"sensitivity-{kind}{label}",
                _TITLES[kind] + of,
                ("μ (SE).", *caption(table, described)),
                (Column("metric", "left"), *(Column(category) for category in categories)),
                tuple(rows),
            )
        )
    return sheets


def level_sheets(factor: str, levels: Mapping[str, SensitivityTable]) -> list[Sheet]:
    """The sheets of ``sensitivity_sheets`` for each level of a factor, such as a period (Tables 3, 4)."""
    return [
        sheet
        for place, (level, table) in enumerate(levels.items(), 1)
        for sheet in sensitivity_sheets(table, label=f"-{factor}-{place}", of=f": {factor} {level}")
    ]
