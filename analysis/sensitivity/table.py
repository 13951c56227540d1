"""The sensitivity table: what each metric penalises, per category of edit, with its tests and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from analysis.sensitivity.cells import Cell, make_cell
from analysis.sensitivity.deltas import DeltaTable, MetricDeltas
from analysis.sensitivity.models import (
    CategoryByMetric,
    Scaled,
    UnevenCells,
    category_by_metric,
    estimate_cells,
    uneven_cells,
)
from analysis.sensitivity.options import Correction, Model, SensitivityOptions
from analysis.sensitivity.scaling import Scaling, Standardization, choose_scaling
from analysis.sensitivity.verdicts import decide
from challenge_sets import Kind
from metrics.base import MetricAbout

_FAMILIES: tuple[tuple[Kind, Callable[[Cell], float | None], str], ...] = (
    ("error", lambda cell: cell.log10_p, "log10_p_adjusted"),
    ("variation", lambda cell: cell.log10_p, "log10_p_adjusted"),
    ("error", lambda cell: cell.tost_log10_p, "tost_log10_p_adjusted"),
    ("variation", lambda cell: cell.tost_log10_p, "tost_log10_p_adjusted"),
)


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """One metric of the table with the scaling that its cells went through."""

    metric: MetricAbout
    label: str
    scaling: Scaling


@dataclass(frozen=True, slots=True)
class SensitivityTable:
    """The whole table with the exact configuration that made it."""

    set_name: str
    fingerprint: str
    rejected: int
    options: SensitivityOptions
    metrics: tuple[MetricSummary, ...]
    cells: tuple[Cell, ...]
    interaction: CategoryByMetric
    uneven: UnevenCells | None
    """Where the mixed models, which take one residual variance for all cells, are not credible."""

    @property
    def pseudo_references(self) -> tuple[str, ...]:
        """Systems whose output stood in for a reference, by name."""
        found = {entry.metric.pseudo_reference for entry in self.metrics}
        return tuple(sorted(name for name in found if name))


def sensitivity(
    deltas: DeltaTable, options: SensitivityOptions, *, scale_from: DeltaTable | None = None
) -> SensitivityTable:
    """Estimate, test and judge every metric × category.

    Two-sided test of the mean delta against zero, and TOST against the margin, each adjusted over all
    error cells and over all variation cells. Sentinels and controls are tested without adjustment and are
    in no family. ``scale_from`` is the table whose SDs the means are expressed in, where ``deltas`` are a
    part of it: parts are comparable only on one scale.

    Under ``zscore`` means, intervals and stars speak of each metric's own average reaction; whether there
    is a reaction at all they cannot say. The verdicts are therefore those of ``scale``. Every cell also has
    the verdicts of the other models, and the one that centring would have given.
    """

    def scaled(method: Standardization) -> list[Scaled]:
        return scale(deltas, method, deltas if scale_from is None else scale_from)

    centred = options.standardize is Standardization.ZSCORE
    plain = scaled(Standardization.SCALE if centred else options.standardize)
    judged = {model: _judged(plain, options, model) for model in Model}
    zscored = scaled(Standardization.ZSCORE)
    if_centred = _judged(zscored, options, options.model)
    shown = [_without_margin(cell) for cell in if_centred] if centred else judged[options.model]
    cells = tuple(
        replace(
            cell,
            verdict=judged[options.model][place].verdict,
            verdict_by_model={str(model): found[place].verdict for model, found in judged.items()},
            verdict_if_centred=if_centred[place].verdict,
        )
        for place, cell in enumerate(shown)
    )
    own = zscored if centred else plain
    return SensitivityTable(
        deltas.set_name,
        deltas.fingerprint,
        deltas.rejected,
        options,
        tuple(MetricSummary(entry.metric, entry.label, scaling) for entry, scaling in own),
        cells,
        category_by_metric(own),
        uneven_cells(own),
    )


def scale(deltas: DeltaTable, method: Standardization, scale_from: DeltaTable) -> list[Scaled]:
    """Each metric's deltas with the scaling that ``scale_from`` gives the same metric."""
    return [
        (entry, _scaling(basis, method))
        for entry, basis in zip(deltas.metrics, scale_from.metrics, strict=True)
    ]


def _scaling(entry: MetricDeltas, method: Standardization) -> Scaling:
    values = {key: cell.deltas for key, cell in entry.cells.items()}
    return choose_scaling(method, values, noise=entry.noise, original_sd=entry.original_sd)


def _judged(metrics: Sequence[Scaled], options: SensitivityOptions, model: Model) -> list[Cell]:
    """All cells under one model, in the unit that the scalings map to, adjusted within their families."""
    cells = [
        make_cell(
            entry,
            scaling,
            key,
            estimates[key],
            options,
            # A verdict that does not go by them needs no resamples, except to show them.
            resample=model is options.model or model is Model.CELLS,
            replace=options.bootstrap_t and model is Model.CELLS,
        )
        for (entry, scaling), estimates in zip(metrics, estimate_cells(metrics, model), strict=True)
        for key in entry.cells
    ]
    for kind, p, field in _FAMILIES:
        cells = _adjust(cells, kind, p, field, options.correction)
    return [_judge(cell, options.alpha) for cell in cells]


def _adjust(
    cells: Sequence[Cell], kind: Kind, p: Callable[[Cell], float | None], field: str, correction: Correction
) -> list[Cell]:
    """Put the adjusted p-values of one family, the metrics' cells of one kind, into ``field``."""
    adjusted = list(cells)
    family = [place for place, cell in enumerate(cells) if cell.kind == kind and not cell.sentinel]
    for place, value in zip(family, correction.adjust([p(cells[place]) for place in family]), strict=True):
        adjusted[place] = replace(cells[place], **{field: value})  # type: ignore[arg-type]
    return adjusted


def _judge(cell: Cell, alpha: float) -> Cell:
    if cell.mean is None or cell.p is None:
        return cell
    return replace(cell, verdict=decide(cell.kind, cell.mean, cell.p, cell.tost_p, alpha))


def _without_margin(cell: Cell) -> Cell:
    """A centred cell: its distance from the metric's average is no reaction that a margin could bound."""
    return replace(
        cell,
        margin=None,
        tost_low=None,
        tost_high=None,
        tost_log10_p=None,
        tost_log10_p_adjusted=None,
        bootstrap_t_tost_log10_p=None,
    )
