"""The mixed model of a long table: delta ~ condition × metric + (1 | segment), in one fit.

Every cell mean is a coefficient of the fit (cell-means coding), so that no level has to be made the reference
and no refit is needed. Source: Quinjica et al. 2026, the model of section 4; there with a refit a cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.long_table import LongTable, TextColumn, read_long_table
from analysis.mixed.design import Cells, cross_cells, effects
from analysis.mixed.exact import MixedFit, State
from analysis.mixed.interaction import Fitter, Interaction, compare, exact_fitter, factor_tests
from analysis.mixed.spread import uneven_spread
from analysis.mixed.statsmodels_engine import fit_statsmodels
from analysis.mixed.sufficient import cell_sums
from analysis.statistics.estimates import interval, t_test
from challenge_sets import InputError

_MOST_CELLS = 2_000
_MOST_COMBINATIONS = 10_000_000


class Engine(StrEnum):
    """What fits the model."""

    EXACT = "exact"
    STATSMODELS = "statsmodels"


@dataclass(frozen=True, slots=True)
class MixedOptions:
    """How the model is fitted. ``factor`` and ``by`` are columns of the table.

    ``factor`` plays the condition: for minimal pairs the category. ``by`` is a further factor beside it, such
    as a period, a domain or a target language.
    """

    reml: bool = True
    engine: Engine = Engine.EXACT
    factor: str = "condition"
    by: str | None = None
    alpha: float = 0.05


@dataclass(frozen=True, slots=True)
class CellMean:
    """One cell's mean delta with its test against zero, in the unit of the table; ``None`` is no value.

    ``df`` is Satterthwaite's, and ``None`` where the normal distribution is used.
    """

    condition: str
    metric: str
    n: int
    estimate: float
    se: float | None
    df: float | None
    low: float | None
    high: float | None
    log10_p: float | None


@dataclass(frozen=True, slots=True)
class UnevenSpread:
    """The levels of a column whose SDs within cells are the smallest and the largest, and differ a lot."""

    column: str
    smallest: str
    smallest_sd: float
    largest: str
    largest_sd: float


@dataclass(frozen=True, slots=True)
class MixedModel:
    """A fitted model with the options that made it.

    ``state`` as of ``MixedFit``. ``empty_cells`` are (condition, metric), each seen in some row, without a
    delta. ``uneven`` says where one residual variance is not credible. With ``by``, ``by_interaction``
    tests metric × that factor beside condition × metric, ``levels`` holds one model for each level's rows
    alone, and ``empty_levels`` names levels without a delta.
    """

    options: MixedOptions
    state: State
    n_rows: int
    missing_rows: int
    n_segments: int
    cells: tuple[CellMean, ...]
    empty_cells: tuple[tuple[str, str], ...]
    sigma2: float | None
    tau2: float | None
    log_likelihood: float | None
    boundary: bool
    uneven: tuple[UnevenSpread, ...]
    interaction: Interaction
    by_interaction: Interaction | None
    levels: tuple[tuple[str, MixedModel], ...]
    empty_levels: tuple[str, ...]


def read_mixed_table(path: str | Path, options: MixedOptions) -> LongTable:
    """Read the columns of the model: ``segment``, ``metric``, ``delta`` and the factors.

    Raises ``InputError`` where one column is asked for twice, and as ``read_long_table`` does.
    """
    factors = [options.factor, "metric", *([] if options.by is None else [options.by])]
    names = ["segment", *factors, "delta"]
    twice = [name for name in factors if names.count(name) > 1]
    if twice:
        raise InputError(
            f"the column {twice[0]!r} cannot stand for two things",
            hint="the factors are columns of their own, besides segment, metric and delta",
        )
    return read_long_table(path, text=("segment", *factors), numbers=("delta",))


def fit_mixed_model(table: LongTable, options: MixedOptions) -> MixedModel:
    """Fit the model to a table of ``read_mixed_table``; rows without a delta are left out and counted.

    Raises ``InputError`` where no row has a delta, or there are too many cells for a model (2,000).
    """
    delta = table.numbers["delta"]
    seen = ~np.isnan(delta)
    if not seen.any():
        raise InputError("no row has a delta", path=table.path)
    _check_size(table, options, seen)
    return _fit(table, options, np.ones(table.rows, dtype=np.bool_))


def _check_size(table: LongTable, options: MixedOptions, seen: NDArray[np.bool_]) -> None:
    """Refuse a column of names in the place of a factor before it fills the memory."""
    names = [options.factor, "metric", *([] if options.by is None else [options.by])]
    columns = [table.text[name] for name in names]
    sizes = tuple(len(column.levels) for column in columns)
    cells = np.unique(np.ravel_multi_index([column.codes[seen] for column in columns], sizes)).size
    if cells > _MOST_CELLS or math.prod(sizes) > _MOST_COMBINATIONS:
        levels = ", ".join(f"{name} has {size}" for name, size in zip(names, sizes, strict=True))
        raise InputError(
            f"{cells} cells are too many for one model",
            path=table.path,
            hint=f"columns of few levels are wanted: {levels}",
        )


def _fit(table: LongTable, options: MixedOptions, rows: NDArray[np.bool_]) -> MixedModel:
    names = [table.text[options.factor], table.text["metric"]]
    seen = rows & ~np.isnan(table.numbers["delta"])
    values = table.numbers["delta"][seen]
    segments = table.text["segment"].codes[seen]
    codes = [column.codes[seen] for column in names]
    cells = cross_cells(codes)
    fit = _fitter(options, values, cells, segments)
    found = fit(None, options.reml)
    by_interaction, levels, empty_levels = None, [], []
    if options.by is not None:
        factor = table.text[options.by]
        by_interaction = factor_tests(
            values,
            codes[0],
            codes[1],
            factor.codes[seen],
            segments,
            reml=options.reml,
            fitter=lambda crossed: _fitter(options, values, crossed, segments),
        )
        plain = replace(options, by=None)
        for code, name in enumerate(factor.levels):
            part = rows & (factor.codes == code)
            if (part & seen).any():
                levels.append((name, _fit(table, plain, part)))
            else:
                empty_levels.append(name)
    present = set(map(tuple, cells.levels.tolist()))
    every = product(*(np.unique(column.codes[rows]).tolist() for column in names))
    return MixedModel(
        options=options,
        state=found.state,
        n_rows=int(seen.sum()),
        missing_rows=int(rows.sum() - seen.sum()),
        n_segments=int(np.unique(segments).size),
        cells=_cell_means(found, cells, names, options.alpha),
        empty_cells=tuple(
            (names[0].levels[a], names[1].levels[b]) for a, b in every if (a, b) not in present
        ),
        sigma2=found.sigma2,
        tau2=found.tau2,
        log_likelihood=found.log_likelihood,
        boundary=found.boundary,
        uneven=tuple(_uneven(values, cells, table, options, seen)),
        interaction=compare(fit, effects(cells.levels, (0,), (1,)), None, reml=options.reml),
        by_interaction=by_interaction,
        levels=tuple(levels),
        empty_levels=tuple(empty_levels),
    )


def _uneven(
    values: NDArray[np.float64],
    cells: Cells,
    table: LongTable,
    options: MixedOptions,
    seen: NDArray[np.bool_],
) -> Iterator[UnevenSpread]:
    for name in ("metric", options.factor):
        column = table.text[name]
        found = uneven_spread(values, cells.codes, column.codes[seen])
        if found is not None:
            yield UnevenSpread(
                name,
                column.levels[found.smallest],
                found.smallest_sd,
                column.levels[found.largest],
                found.largest_sd,
            )


def _fitter(
    options: MixedOptions, values: NDArray[np.float64], cells: Cells, segments: NDArray[np.intp]
) -> Fitter:
    if options.engine is Engine.EXACT:
        return exact_fitter(cell_sums(values, cells.codes, segments))
    engine: Callable[..., MixedFit] = partial(fit_statsmodels, values, cells.codes, segments)
    return lambda columns, reml: engine(reml=reml, columns=columns)


def _cell_means(fit: MixedFit, cells: Cells, names: list[TextColumn], alpha: float) -> tuple[CellMean, ...]:
    counts = np.bincount(cells.codes)
    errors = fit.se
    means = []
    for place, (condition, metric) in enumerate(cells.levels):
        estimate = float(fit.beta[place])
        se = df = low = high = log10_p = None
        if errors is not None:
            se = float(errors[place])
            df = None if fit.df is None else float(fit.df[place])
            reference = float("inf") if df is None else df
            low, high = interval(estimate, se, reference, 1.0 - alpha)
            log10_p = t_test(estimate, se, reference)
        means.append(
            CellMean(
                names[0].levels[condition],
                names[1].levels[metric],
                int(counts[place]),
                estimate,
                se,
                df,
                low,
                high,
                log10_p,
            )
        )
    return tuple(means)
