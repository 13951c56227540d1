"""The sensitivity table: what each metric penalises, per category of edit, with its tests and verdicts.

Every cell stands for itself: its mean with a standard error that is robust to several pairs from one
segment. Estimates of a model over all cells can take the place of ``_estimate`` without another change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from analysis.sensitivity.deltas import CellDeltas, DeltaTable, MetricDeltas
from analysis.sensitivity.scaling import Scaling, Standardization, choose_scaling
from analysis.sensitivity.verdicts import Verdict, decide
from analysis.statistics.estimates import (
    MeanEstimate,
    cluster_mean,
    count_wins,
    interval,
    smallest_detectable,
    t_test,
    tost,
    wilson,
)
from analysis.statistics.significance import holm
from challenge_sets import InputError, Kind
from metrics.base import MetricAbout

DEFAULT_MARGIN_SD = 0.2
POWER = 0.8
_WITH_MARGIN: tuple[Kind, ...] = ("error", "variation")


@dataclass(frozen=True, slots=True)
class SensitivityOptions:
    """How the table is made. ``margin_sd`` is in SDs, ``margin`` in metric units and only with ``raw``.

    Raises ``InputError`` where a value is out of its range or the two margins contradict each other.
    """

    standardize: Standardization = Standardization.SCALE
    margin_sd: float | None = None
    margin: float | None = None
    alpha: float = 0.05

    def __post_init__(self) -> None:
        if not 0.0 < self.alpha < 0.5:
            raise InputError(f"alpha is {self.alpha:g}, it lies between 0 and 0.5")
        for name, value in (("--margin-sd", self.margin_sd), ("--margin", self.margin)):
            if value is not None and not (math.isfinite(value) and value > 0):
                raise InputError(f"{name} is {value:g}, an equivalence margin is a positive number")
        if self.margin is not None:
            if self.standardize is not Standardization.RAW:
                raise InputError(
                    f"--margin is in metric units, the table under '{self.standardize}' is in SDs",
                    hint="give --margin-sd, or --standardize raw",
                )
            if self.margin_sd is not None:
                raise InputError("--margin and --margin-sd are two margins: give one")

    @property
    def margin_in_sd(self) -> float:
        """The margin in SDs, where none was given in metric units."""
        return DEFAULT_MARGIN_SD if self.margin_sd is None else self.margin_sd


@dataclass(frozen=True, slots=True)
class Cell:
    """One metric under one signature in one category. Lengths are in the table's unit, ``None`` is no value.

    ``pairs`` = ``n`` + ``missing`` + ``blind``. Mean, interval, wins and tests speak of the ``n`` pairs.
    ``log10_p_adjusted`` is ``None`` for controls and sentinels, which belong to no family.
    """

    metric: str
    signature: str
    label: str
    sentinel: bool
    kind: Kind
    category: str
    pairs: int
    n: int
    missing: int
    missing_reasons: Mapping[str, int]
    blind: int
    segments: int
    mean: float | None
    se: float | None
    df: float | None
    low: float | None
    high: float | None
    wins: int
    ties: int
    losses: int
    win_share: float | None
    win_share_low: float | None
    win_share_high: float | None
    t: float | None
    log10_p: float | None
    log10_p_adjusted: float | None
    margin: float | None
    tost_low: float | None
    tost_high: float | None
    tost_log10_p: float | None
    tost_log10_p_adjusted: float | None
    smallest_detectable: float | None
    verdict: Verdict

    @property
    def p(self) -> float | None:
        """Log10 of the difference test's p-value that the verdict goes by."""
        return self.log10_p if self.log10_p_adjusted is None else self.log10_p_adjusted

    @property
    def tost_p(self) -> float | None:
        """Log10 of the equivalence test's p-value that the verdict goes by."""
        return self.tost_log10_p if self.tost_log10_p_adjusted is None else self.tost_log10_p_adjusted


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

    @property
    def pseudo_references(self) -> tuple[str, ...]:
        """Systems whose output stood in for a reference, by name."""
        found = {entry.metric.pseudo_reference for entry in self.metrics}
        return tuple(sorted(name for name in found if name))


def sensitivity(deltas: DeltaTable, options: SensitivityOptions) -> SensitivityTable:
    """Estimate, test and judge every metric × category.

    Two-sided test of the mean delta against zero, and TOST against the margin, each with Holm over all
    error cells and over all variation cells. Sentinels and controls are tested without adjustment and are
    in no family.

    Under ``zscore`` means, intervals and stars speak of each metric's own average reaction; whether there
    is a reaction at all they cannot say. The verdicts are therefore those of ``scale``.
    """
    summaries, cells = [], []
    for entry in deltas.metrics:
        values = {key: cell.deltas for key, cell in entry.cells.items()}
        scaling = choose_scaling(options.standardize, values, noise=entry.noise)
        summaries.append(MetricSummary(entry.metric, entry.label, scaling))
        for (kind, category), cell in entry.cells.items():
            cells.append(_estimate(entry, scaling, kind, category, cell, options))
    cells = _adjust(cells, "error", lambda cell: cell.log10_p, "log10_p_adjusted")
    cells = _adjust(cells, "variation", lambda cell: cell.log10_p, "log10_p_adjusted")
    for kind in _WITH_MARGIN:
        cells = _adjust(cells, kind, lambda cell: cell.tost_log10_p, "tost_log10_p_adjusted")
    if options.standardize is Standardization.ZSCORE:
        uncentred = sensitivity(deltas, replace(options, standardize=Standardization.SCALE))
        cells = [
            replace(cell, verdict=other.verdict) for cell, other in zip(cells, uncentred.cells, strict=True)
        ]
    else:
        cells = [_judge(cell, options.alpha) for cell in cells]
    return SensitivityTable(
        deltas.set_name, deltas.fingerprint, deltas.rejected, options, tuple(summaries), tuple(cells)
    )


def _estimate(
    entry: MetricDeltas,
    scaling: Scaling,
    kind: Kind,
    category: str,
    cell: CellDeltas,
    options: SensitivityOptions,
) -> Cell:
    """One cell with its unadjusted tests; the verdict says so far only whether a test was possible."""
    # The estimate is made in metric units and then mapped, so that no unit changes what counts as rounding.
    raw = cluster_mean(cell.deltas, cell.segments, noise=entry.noise)
    mean = None if raw.mean is None else scaling.mean(raw.mean)
    se = None if raw.se is None else scaling.spread(raw.se)
    df = raw.df
    low = high = t = log10_p = detectable = tost_low = tost_high = tost_log10_p = None
    centred = options.standardize is Standardization.ZSCORE
    margin = (
        scaling.margin(options.margin_in_sd, options.margin)
        if kind in _WITH_MARGIN and scaling.divisor is not None and not centred
        else None
    )
    if mean is not None and se is not None and df is not None:
        low, high = interval(mean, se, df, 1.0 - options.alpha)
        t, log10_p = mean / se, t_test(mean, se, df)
        detectable = smallest_detectable(se, df, alpha=options.alpha, power=POWER)
        if margin is not None:
            tost_low, tost_high = interval(mean, se, df, 1.0 - 2.0 * options.alpha)
            tost_log10_p = tost(mean, se, df, -margin, margin).log10_p
    counts = count_wins(cell.deltas, entry.metric.tie_threshold)
    share_low, share_high = wilson(counts.wins, counts.total, 1.0 - options.alpha) if raw.n else (None, None)
    return Cell(
        metric=entry.metric.name,
        signature=entry.metric.signature,
        label=entry.label,
        sentinel=entry.metric.sentinel,
        kind=kind,
        category=category,
        pairs=cell.pairs,
        n=raw.n,
        missing=sum(cell.missing.values()),
        missing_reasons=cell.missing,
        blind=cell.blind,
        segments=raw.clusters,
        mean=mean,
        se=se,
        df=df if se is not None else None,
        low=low,
        high=high,
        wins=counts.wins,
        ties=counts.ties,
        losses=counts.losses,
        win_share=counts.wins / raw.n if raw.n else None,
        win_share_low=share_low,
        win_share_high=share_high,
        t=t,
        log10_p=log10_p,
        log10_p_adjusted=None,
        margin=margin,
        tost_low=tost_low,
        tost_high=tost_high,
        tost_log10_p=tost_log10_p,
        tost_log10_p_adjusted=None,
        smallest_detectable=detectable,
        verdict=_untestable(raw, cell),
    )


def _untestable(raw: MeanEstimate, cell: CellDeltas) -> Verdict:
    if raw.n == 0:
        return Verdict.BLIND if cell.blind and not cell.missing else Verdict.NO_SCORES
    return Verdict.TOO_FEW if raw.state == "too few" else Verdict.DEGENERATE


def _adjust(cells: Iterable[Cell], kind: Kind, p: Callable[[Cell], float | None], field: str) -> list[Cell]:
    """Put Holm's adjusted p-values of one family, the metrics' cells of one kind, into ``field``."""
    all_cells = list(cells)
    family = [place for place, cell in enumerate(all_cells) if cell.kind == kind and not cell.sentinel]
    for place, value in zip(family, holm([p(all_cells[place]) for place in family]), strict=True):
        all_cells[place] = replace(all_cells[place], **{field: value})  # type: ignore[arg-type]
    return all_cells


def _judge(cell: Cell, alpha: float) -> Cell:
    if cell.mean is None or cell.p is None:
        return cell
    return replace(cell, verdict=decide(cell.kind, cell.mean, cell.p, cell.tost_p, alpha))
