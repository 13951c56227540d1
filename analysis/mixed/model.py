"""The mixed model of a long table: delta ~ condition × metric + (1 | segment), in one fit.

Every cell mean is a coefficient of the fit (cell-means coding), so that no level has to be made the reference
and no refit is needed. Source: Quinjica et al. 2026, the model of section 4; there with a refit a cell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.long_table import LongTable, TextColumn, read_long_table
from analysis.mixed.design import Cells, cross_cells, effects
from analysis.mixed.exact import MixedFit, State
from analysis.mixed.interaction import Fitter, Interaction, compare, exact_fitter, factor_tests
from analysis.mixed.statsmodels_engine import fit_statsmodels
from analysis.mixed.sufficient import cell_sums
from analysis.statistics.estimates import interval, t_test
from challenge_sets import InputError


class Engine(StrEnum):
    """What fits the model."""

    EXACT = "exact"
    STATSMODELS = "statsmodels"


@dataclass(frozen=True, slots=True)
class MixedOptions:
    """How the model is fitted. ``condition`` and ``factor`` are columns of the table.

    ``factor`` is a further factor, such as a period, a domain or a target language.
    """

    reml: bool = True
    engine: Engine = Engine.EXACT
    condition: str = "condition"
    factor: str | None = None
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
class MixedModel:
    """A fitted model with the options that made it.

    ``state`` as of ``MixedFit``. ``empty_cells`` are (condition, metric) without a row. With a factor,
    ``factor_interaction`` tests metric × factor beside condition × metric, and ``levels`` holds one model for
    each level's rows alone.
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
    interaction: Interaction
    factor_interaction: Interaction | None
    levels: tuple[tuple[str, MixedModel], ...]


def read_mixed_table(path: str | Path, options: MixedOptions) -> LongTable:
    """Read the columns of the model: ``segment``, the condition, ``metric``, ``delta`` and the factor."""
    factors = [options.condition, "metric", *([] if options.factor is None else [options.factor])]
    if len({"segment", *factors, "delta"}) != len(factors) + 2:
        raise InputError(
            f"the condition {options.condition!r} and the factor {options.factor!r} must be two columns "
            "besides segment, metric and delta"
        )
    return read_long_table(path, text=("segment", *factors), numbers=("delta",))


def fit_mixed_model(table: LongTable, options: MixedOptions) -> MixedModel:
    """Fit the model to a table of ``read_mixed_table``; rows without a delta are left out and counted.

    Raises ``InputError`` where no row has a delta.
    """
    delta = table.numbers["delta"]
    seen = ~np.isnan(delta)
    if not seen.any():
        raise InputError("no row has a delta", path=table.path)
    return _fit(table, options, seen)


def _fit(table: LongTable, options: MixedOptions, seen: NDArray[np.bool_]) -> MixedModel:
    names = [table.text[options.condition], table.text["metric"]]
    values = table.numbers["delta"][seen]
    segments = table.text["segment"].codes[seen]
    codes = [column.codes[seen] for column in names]
    cells = cross_cells(codes)
    fit = _fitter(options, values, cells, segments)
    found = fit(None, options.reml)
    factor_interaction, levels = None, []
    if options.factor is not None:
        factor = table.text[options.factor]
        factor_interaction = factor_tests(
            values,
            codes[0],
            codes[1],
            factor.codes[seen],
            segments,
            reml=options.reml,
            fitter=lambda crossed: _fitter(options, values, crossed, segments),
        )
        plain = MixedOptions(options.reml, options.engine, options.condition, None, options.alpha)
        for code in np.unique(factor.codes[seen]):
            part = seen & (factor.codes == code)
            levels.append((factor.levels[code], _fit(table, plain, part)))
    return MixedModel(
        options=options,
        state=found.state,
        n_rows=int(seen.sum()),
        missing_rows=int(seen.size - seen.sum()),
        n_segments=int(np.unique(segments).size),
        cells=_cell_means(found, cells, names, options.alpha),
        empty_cells=tuple((names[0].levels[a], names[1].levels[b]) for a, b in cells.empty),
        sigma2=found.sigma2,
        tau2=found.tau2,
        log_likelihood=found.log_likelihood,
        boundary=found.boundary,
        interaction=compare(fit, effects(cells.levels, (0,), (1,)), None, reml=options.reml),
        factor_interaction=factor_interaction,
        levels=tuple(levels),
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
