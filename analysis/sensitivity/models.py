"""Estimates of all cells under one of three models, in the unit of a table.

The mixed models hold the errors and variations of the metrics. Controls are made to be extreme, baselines are
no metrics: both would set the variance of everything else, so they stand for themselves under every model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from analysis.mixed.exact import fit_cells
from analysis.mixed.interaction import Interaction, factor_tests, interaction_tests
from analysis.mixed.robust import RobustWald, interaction_wald
from analysis.mixed.spread import uneven_spread
from analysis.sensitivity.deltas import CellKey, MetricDeltas
from analysis.sensitivity.options import Model
from analysis.sensitivity.scaling import Scaling
from analysis.statistics.estimates import MeanEstimate, cluster_mean

Estimates = Mapping[CellKey, MeanEstimate]
Scaled = tuple[MetricDeltas, Scaling]


@dataclass(frozen=True, slots=True)
class Rows:
    """Deltas in a table's unit, one a row: shape ``(n,)`` each. ``keys`` names the cells by their codes."""

    keys: tuple[tuple[int, CellKey], ...]
    cells: NDArray[np.intp]
    values: NDArray[np.float64]
    segments: NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class CategoryByMetric:
    """Whether the metrics react to the categories in the same way: category × metric, tested three times.

    ``model`` holds the likelihood-ratio and Wald tests of the mixed model, ``robust`` Wald's test with
    covariances robust to unequal variances and to clustering by segment.
    """

    model: Interaction
    robust: RobustWald


@dataclass(frozen=True, slots=True)
class UnevenCells:
    """Cells whose SDs are too far apart for one residual variance, by name; SDs in the table's unit."""

    smallest: str
    smallest_sd: float
    largest: str
    largest_sd: float


def estimate_cells(metrics: Sequence[Scaled], model: Model) -> list[Estimates]:
    """Mean, standard error and degrees of freedom of every cell, metric by metric in the order given."""
    estimates = [_each_cell(entry, scaling) for entry, scaling in metrics]
    if model is Model.CELLS:
        return estimates
    places = [place for place, (entry, _) in enumerate(metrics) if not entry.metric.sentinel]
    for group in [places] if model is Model.JOINT else [[place] for place in places]:
        rows = modelled_rows(metrics, group)
        for (place, key), estimate in _fit(rows).items():
            estimates[place] = {**estimates[place], key: estimate}
    return estimates


def modelled_rows(metrics: Sequence[Scaled], places: Sequence[int]) -> Rows:
    """The rows of a mixed model of the metrics at ``places``: errors and variations with any delta."""
    keys: list[tuple[int, CellKey]] = []
    parts: list[tuple[NDArray[np.float64], NDArray[np.intp]]] = []
    for place in places:
        entry, scaling = metrics[place]
        for key, cell in entry.cells.items():
            if key[0] != "control" and cell.deltas.size and scaling.divisor is not None:
                keys.append((place, key))
                parts.append(((cell.deltas - scaling.centre) / scaling.divisor, cell.segments))
    return Rows(
        tuple(keys),
        np.repeat(np.arange(len(parts)), [values.size for values, _ in parts]),
        np.concatenate([np.empty(0), *(values for values, _ in parts)]),
        np.concatenate([np.empty(0, dtype=np.intp), *(segments for _, segments in parts)]),
    )


def _each_cell(entry: MetricDeltas, scaling: Scaling) -> Estimates:
    # Estimated in metric units and then mapped, so that no unit changes what counts as rounding.
    found = {}
    for key, cell in entry.cells.items():
        raw = cluster_mean(cell.deltas, cell.segments, noise=entry.noise)
        found[key] = replace(
            raw,
            mean=None if raw.mean is None else scaling.mean(raw.mean),
            se=None if raw.se is None else scaling.spread(raw.se),
        )
    return found


def _fit(rows: Rows) -> dict[tuple[int, CellKey], MeanEstimate]:
    """The cells' estimates from one mixed model; none where it leaves nothing to test with."""
    if not rows.values.size:
        return {}
    fit = fit_cells(rows.values, rows.cells, rows.segments)
    errors, df = fit.se, fit.df
    if errors is None or df is None:
        return {}
    found = {}
    for code, key in enumerate(rows.keys):
        own = rows.segments[rows.cells == code]
        found[key] = MeanEstimate(
            n=int(own.size),
            missing=0,
            clusters=int(np.unique(own).size),
            mean=float(fit.beta[code]),
            se=float(errors[code]),
            df=float(df[code]),
            state="ok",
        )
    return found


def category_by_metric(metrics: Sequence[Scaled]) -> CategoryByMetric:
    """Test category × metric over the errors and variations of all metrics that are no baselines."""
    rows = modelled_rows(
        metrics, [place for place, (entry, _) in enumerate(metrics) if not entry.metric.sentinel]
    )
    if not rows.values.size:
        nothing = "no metric has a delta"
        return CategoryByMetric(Interaction(None, None, nothing), RobustWald(None, None, None, None, nothing))
    categories: dict[CellKey, int] = {}
    for _, key in rows.keys:
        categories.setdefault(key, len(categories))
    category = np.array([categories[key] for _, key in rows.keys])[rows.cells]
    metric = np.array([place for place, _ in rows.keys])[rows.cells]
    return CategoryByMetric(
        interaction_tests(rows.values, category, metric, rows.segments),
        interaction_wald(rows.values, category, metric, rows.segments),
    )


def uneven_cells(metrics: Sequence[Scaled]) -> UnevenCells | None:
    """The cells with the smallest and the largest SD, where they are too far apart for a mixed model.

    ``None`` where they are not, by ``uneven_spread``.
    """
    rows = modelled_rows(
        metrics, [place for place, (entry, _) in enumerate(metrics) if not entry.metric.sentinel]
    )
    found = uneven_spread(rows.values, rows.cells, rows.cells) if rows.values.size else None
    if found is None:
        return None
    names = []
    for code in (found.smallest, found.largest):
        place, (_, category) = rows.keys[code]
        names.append(f"{metrics[place][0].label}, {category}")
    return UnevenCells(names[0], found.smallest_sd, names[1], found.largest_sd)


def metric_by_level(levels: Sequence[Sequence[Scaled]]) -> Interaction:
    """Test metric × level over the errors and variations: do levels change some metrics more than others?

    ``levels`` holds each level's metrics, in the same order and on the same scale.
    """
    categories: dict[CellKey, int] = {}
    columns: list[list[NDArray[np.intp]]] = []
    values = []
    for level, metrics in enumerate(levels):
        places = [place for place, (entry, _) in enumerate(metrics) if not entry.metric.sentinel]
        rows = modelled_rows(metrics, places)
        for _, key in rows.keys:
            categories.setdefault(key, len(categories))
        category = np.array([categories[key] for _, key in rows.keys], dtype=np.intp)[rows.cells]
        metric = np.array([place for place, _ in rows.keys], dtype=np.intp)[rows.cells]
        columns.append([category, metric, np.full(category.size, level), rows.segments])
        values.append(rows.values)
    joined = np.concatenate(values)
    if not joined.size:
        return Interaction(None, None, "no metric has a delta")
    return factor_tests(joined, *(np.concatenate(column) for column in zip(*columns, strict=True)))
