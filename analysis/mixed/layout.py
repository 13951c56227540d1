"""How a mixed model is printed: its cells, what was estimated beside them, what is to be doubted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from analysis.mixed.interaction import ChiSquare, Interaction
from analysis.mixed.model import CellMean, MixedModel
from analysis.printing.render import Column, Entry, Report, Sheet, number
from analysis.statistics.significance import p_text, stars

_STATES = {
    "degenerate": "degenerate: the deltas do not vary within cells, or not within segments: no tests",
    "too few": "too few rows, or no cell has rows of two segments: no tests",
}
_LONG = 40
"""Rows from which a sheet may run over several pages."""
_MOST_DECIMALS = 12
_NAMES = 6
"""Names that a sentence lists before it counts."""


def as_report(model: MixedModel) -> Report:
    """The cells of the model, then of each level of the further factor."""
    sheets = [_sheet("cells", "Cell means", model)]
    for place, (level, part) in enumerate(model.levels, start=1):
        sheets.append(_sheet(f"cells-{place}", f"{model.options.by} {level}", part))
    starred = any(stars(cell.log10_p) for sheet in _parts(model) for cell in sheet.cells)
    return Report(
        title=f"Mixed model: delta ~ {model.options.factor} × metric + (1 | segment)",
        introduction=(
            f"Means of delta with {1 - model.options.alpha:.4g} intervals from one model; p is of a mean of "
            "zero, each cell by itself, not corrected for their number.",
            *_summary(model),
        ),
        sheets=tuple(sheets),
        legend=(("*", "one, two, three stars: p < 0.05, 0.01, 0.001"),) if starred else (),
        notes=tuple(warning_lines(model)),
    )


def lines(model: MixedModel) -> list[str]:
    """What a terminal shows below the cells: the fit, the tests of interactions, warnings."""
    return [*_summary(model), *warning_lines(model)]


def warning_lines(model: MixedModel) -> list[str]:
    """What the reader has to know of the model and of each level's, in sentences."""
    found = list(_warnings(model))
    for level, part in model.levels:
        found += [f"{model.options.by} {level}: {line}" for line in _warnings(part)]
    if model.empty_levels:
        found.append(f"{model.options.by} without a delta: {_some(model.empty_levels)}.")
    return found


def as_records(model: MixedModel) -> list[dict[str, Any]]:
    """One row a cell, and one more for each level of a further factor: the columns of the CSV file."""
    if model.options.by is None:
        return [_cell(cell) for cell in model.cells]
    parts: list[tuple[str | None, MixedModel]] = [(None, model), *model.levels]
    return [{"level": level} | _cell(cell) for level, part in parts for cell in part.cells]


def as_document(model: MixedModel) -> dict[str, Any]:
    """The model as a JSON object; ``levels`` maps each level of the further factor to its own model."""
    options = model.options
    return {
        "state": model.state,
        "engine": str(options.engine),
        "reml": options.reml,
        "alpha": options.alpha,
        "factor": options.factor,
        "by": options.by,
        "n_rows": model.n_rows,
        "missing_rows": model.missing_rows,
        "n_segments": model.n_segments,
        "cells": [_cell(cell) for cell in model.cells],
        "empty_cells": [
            {"condition": condition, "metric": metric} for condition, metric in model.empty_cells
        ],
        "sigma2": model.sigma2,
        "tau2": model.tau2,
        "boundary": model.boundary,
        "log_likelihood": model.log_likelihood,
        "interaction": _tests(model.interaction),
        "by_interaction": None if model.by_interaction is None else _tests(model.by_interaction),
        "warnings": list(_warnings(model)),
        "levels": {level: as_document(part) for level, part in model.levels},
        "empty_levels": list(model.empty_levels),
    }


def _cell(cell: CellMean) -> dict[str, Any]:
    return {
        "condition": cell.condition,
        "metric": cell.metric,
        "n": cell.n,
        "estimate": cell.estimate,
        "se": cell.se,
        "df": cell.df,
        "low": cell.low,
        "high": cell.high,
        "log10_p": cell.log10_p,
    }


def _tests(interaction: Interaction) -> dict[str, Any]:
    return {
        "lr": _chi_square(interaction.lr),
        "wald": _chi_square(interaction.wald),
        "reason": interaction.reason or None,
    }


def _chi_square(test: ChiSquare | None) -> dict[str, Any] | None:
    return None if test is None else {"chi2": test.chi2, "df": test.df, "log10_p": test.log10_p}


def _parts(model: MixedModel) -> Iterator[MixedModel]:
    yield model
    for _, part in model.levels:
        yield part


def _sheet(label: str, title: str, model: MixedModel) -> Sheet:
    decimals = _decimals(model.cells)
    columns = (
        Column(model.options.factor, "left"),
        Column("metric", "left"),
        Column("n"),
        Column("mean"),
        Column("SE"),
        Column("df"),
        Column(f"{1 - model.options.alpha:.4g} interval"),
        Column("p"),
    )
    rows = []
    for cell in model.cells:
        span = ""
        if cell.low is not None and cell.high is not None:
            span = f"[{number(cell.low, decimals)}, {number(cell.high, decimals)}]"
        rows.append(
            (
                Entry(cell.condition),
                Entry(cell.metric),
                Entry(str(cell.n)),
                Entry(number(cell.estimate, decimals), stars(cell.log10_p)),
                Entry(number(cell.se, decimals)),
                Entry(number(cell.df, 1) if cell.df is not None else "" if cell.se is None else "normal"),
                Entry(span),
                Entry("" if cell.log10_p is None else p_text(cell.log10_p)),
            )
        )
    caption = (f"{model.n_rows} rows of {model.n_segments} segments.",)
    return Sheet(label, title, caption, columns, tuple(rows), long=len(rows) > _LONG)


def _decimals(cells: Sequence[CellMean]) -> int:
    """Three, or as many as show two digits of a usual standard error."""
    sizes = [cell.se for cell in cells if cell.se] or [abs(cell.estimate) for cell in cells if cell.estimate]
    if not sizes:
        return 3
    return min(_MOST_DECIMALS, max(3, 1 - math.floor(math.log10(float(np.median(sizes))))))


def _summary(model: MixedModel) -> Iterator[str]:
    options = model.options
    kind = "REML" if options.reml else "ML"
    if model.sigma2 is not None and model.tau2 is not None and model.log_likelihood is not None:
        yield (
            f"{kind}, engine {options.engine}: variance between segments {_figure(model.tau2)}, residual "
            f"variance {_figure(model.sigma2)}, log-likelihood {number(model.log_likelihood, 3)}."
        )
    yield _sentence(f"{options.factor} × metric", model.interaction, kind)
    if model.by_interaction is not None:
        yield _sentence(f"metric × {options.by}", model.by_interaction, kind)


def _sentence(name: str, interaction: Interaction, kind: str) -> str:
    if interaction.lr is None or interaction.wald is None:
        return f"{name} is not tested: {interaction.reason}."
    return f"{name}: LR (ML) {_test_text(interaction.lr)}; Wald ({kind} fit) {_test_text(interaction.wald)}."


def _test_text(test: ChiSquare) -> str:
    return f"chi-square({test.df}) = {_figure(test.chi2, 6)}, p = {p_text(test.log10_p)}".replace("= <", "< ")


def _figure(value: float, digits: int = 4) -> str:
    return f"{value:.{digits}g}"


def _warnings(model: MixedModel) -> Iterator[str]:
    if model.state in _STATES:
        yield f"{_STATES[model.state]}."
    if model.missing_rows:
        yield f"{model.missing_rows} rows have no delta and are left out."
    if model.empty_cells:
        yield f"Cells without a delta: {_some([f'{a} × {b}' for a, b in model.empty_cells])}."
    if model.boundary:
        yield (
            "The variance between segments is estimated as 0 (boundary, or singular, fit): standard errors "
            "are those of independent rows."
        )
    for found in model.uneven:
        yield (
            f"SDs within cells range from {_figure(found.smallest_sd)} ({found.column} {found.smallest}) to "
            f"{_figure(found.largest_sd)} ({found.column} {found.largest}); the model takes one for all, so "
            "that its standard errors are too small where the SD is large."
        )


def _some(names: Sequence[str]) -> str:
    more = len(names) - _NAMES
    return ", ".join(names[:_NAMES]) + (f" and {more} more" if more > 0 else "")
