"""One cell of the sensitivity table: a metric's reaction in one category, with its tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from analysis.sensitivity.deltas import CellDeltas, CellKey, MetricDeltas
from analysis.sensitivity.options import SensitivityOptions
from analysis.sensitivity.scaling import Scaling
from analysis.sensitivity.verdicts import Verdict
from analysis.statistics.bootstrap_t import BootstrapT, bootstrap_t
from analysis.statistics.estimates import MeanEstimate, interval, smallest_detectable, t_test, tost
from analysis.statistics.shares import cluster_wilson, count_wins
from challenge_sets import Kind

POWER = 0.8
FEW_REACTIONS = 30
"""With fewer segments that show any reaction, a t-test is unreliable: see docs/calibration.md."""
SKEW = 25.0
"""A t-test needs this many segments times the squared skewness of their deltas (Cochran 1977, Sampling
Techniques, section 2.15)."""

_WITH_MARGIN: tuple[Kind, ...] = ("error", "variation")


@dataclass(frozen=True, slots=True)
class Cell:
    """One metric under one signature in one category. Lengths are in the table's unit, ``None`` is no value.

    ``pairs`` = ``n`` + ``missing`` + ``blind``. Mean, interval, wins and tests speak of the ``n`` pairs.
    ``log10_p_adjusted`` is ``None`` for controls and sentinels, which belong to no family.
    ``reacting`` counts the segments with a delta beyond the tie threshold, ``zero_share`` is the share of
    pairs within it; ``unreliable`` warns of a t-test on few reactions or on deltas too skewed for their
    number, and then ``bootstrap_t_log10_p`` and ``bootstrap_t_tost_log10_p`` stand beside it.
    ``verdict_by_model`` and ``verdict_if_centred`` say what the other models, and centring on the metric's
    mean, would have answered.
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
    zero_share: float | None
    reacting: int
    unreliable: bool
    t: float | None
    log10_p: float | None
    log10_p_adjusted: float | None
    margin: float | None
    tost_low: float | None
    tost_high: float | None
    tost_log10_p: float | None
    tost_log10_p_adjusted: float | None
    bootstrap_t_log10_p: float | None
    bootstrap_t_tost_log10_p: float | None
    smallest_detectable: float | None
    verdict: Verdict
    verdict_by_model: Mapping[str, Verdict] = field(default_factory=dict)
    verdict_if_centred: Verdict | None = None

    @property
    def p(self) -> float | None:
        """Log10 of the difference test's p-value that the verdict goes by."""
        return self.log10_p if self.log10_p_adjusted is None else self.log10_p_adjusted

    @property
    def tost_p(self) -> float | None:
        """Log10 of the equivalence test's p-value that the verdict goes by."""
        return self.tost_log10_p if self.tost_log10_p_adjusted is None else self.tost_log10_p_adjusted

    @property
    def models_disagree(self) -> bool:
        """Whether another model would have given another verdict."""
        return len(set(self.verdict_by_model.values())) > 1

    @property
    def centring_changes(self) -> bool:
        """Whether centring on the metric's mean delta would have given another verdict."""
        return self.verdict_if_centred not in (None, self.verdict)


def make_cell(
    entry: MetricDeltas,
    scaling: Scaling,
    key: CellKey,
    estimate: MeanEstimate,
    options: SensitivityOptions,
    *,
    resample: bool,
    replace: bool = False,
) -> Cell:
    """A cell with its unadjusted tests; the verdict says so far only whether a test was possible.

    ``estimate`` is in the unit that ``scaling`` maps to. ``resample`` adds the bootstrap-t where the t-test
    is unreliable, ``replace`` lets the tests and intervals go by it there.
    """
    kind, category = key
    cell = entry.cells[key]
    low = high = t = log10_p = detectable = tost_low = tost_high = tost_log10_p = None
    resampled = resampled_tost = None
    mean, se, df = estimate.mean, estimate.se, estimate.df
    margin = (
        scaling.margin(options.margin_in_sd, options.margin)
        if kind in _WITH_MARGIN and scaling.divisor is not None
        else None
    )
    reacting = _reacting(entry, cell)
    unreliable = False
    if mean is not None and se is not None and df is not None:
        unreliable = reacting < FEW_REACTIONS or _too_skewed(cell)
        low, high = interval(mean, se, df, 1.0 - options.alpha)
        t, log10_p = mean / se, t_test(mean, se, df)
        detectable = smallest_detectable(se, df, alpha=options.alpha, power=POWER)
        if margin is not None:
            tost_low, tost_high = interval(mean, se, df, 1.0 - 2.0 * options.alpha)
            tost_log10_p = tost(mean, se, df, -margin, margin).log10_p
        resamples = _resamples(scaling, cell, options) if unreliable and resample else None
        if resamples is not None:
            resampled = resamples.log10_p()
            resampled_tost = None if margin is None else resamples.log10_p_within(-margin, margin)
            if replace:
                log10_p, tost_log10_p = resampled, resampled_tost
                low, high = resamples.interval(1.0 - options.alpha)
                if margin is not None:
                    tost_low, tost_high = resamples.interval(1.0 - 2.0 * options.alpha)
    counts = count_wins(cell.deltas, entry.metric.tie_threshold)
    n = counts.total
    share_low, share_high = (
        cluster_wilson(cell.deltas > entry.metric.tie_threshold, cell.segments, 1.0 - options.alpha)
        if n
        else (None, None)
    )
    return Cell(
        metric=entry.metric.name,
        signature=entry.metric.signature,
        label=entry.label,
        sentinel=entry.metric.sentinel,
        kind=kind,
        category=category,
        pairs=cell.pairs,
        n=n,
        missing=sum(cell.missing.values()),
        missing_reasons=cell.missing,
        blind=cell.blind,
        segments=estimate.clusters,
        mean=mean,
        se=se,
        df=df if se is not None else None,
        low=low,
        high=high,
        wins=counts.wins,
        ties=counts.ties,
        losses=counts.losses,
        win_share=counts.wins / n if n else None,
        win_share_low=share_low,
        win_share_high=share_high,
        zero_share=counts.ties / n if n else None,
        reacting=reacting,
        unreliable=unreliable,
        t=t,
        log10_p=log10_p,
        log10_p_adjusted=None,
        margin=margin,
        tost_low=tost_low,
        tost_high=tost_high,
        tost_log10_p=tost_log10_p,
        tost_log10_p_adjusted=None,
        bootstrap_t_log10_p=resampled,
        bootstrap_t_tost_log10_p=resampled_tost,
        smallest_detectable=detectable,
        verdict=_untestable(estimate, cell),
    )


def _reacting(entry: MetricDeltas, cell: CellDeltas) -> int:
    beyond = np.abs(cell.deltas) > entry.metric.tie_threshold
    return int(np.unique(cell.segments[beyond]).size)


def _too_skewed(cell: CellDeltas) -> bool:
    """Whether the segments' sums are too skewed for their number to have a mean that is about normal."""
    _, codes = np.unique(cell.segments, return_inverse=True)
    sums = np.bincount(codes, weights=cell.deltas - cell.deltas.mean())
    spread = float(sums.std())
    if spread == 0.0:
        return False
    skewness = float(((sums - sums.mean()) ** 3).mean()) / spread**3
    return sums.size < SKEW * skewness**2


def _resamples(scaling: Scaling, cell: CellDeltas, options: SensitivityOptions) -> BootstrapT | None:
    if scaling.divisor is None:
        return None
    # One seed for every cell: its draws must not depend on which other cells the table has.
    rng = np.random.default_rng(options.seed)
    return bootstrap_t((cell.deltas - scaling.centre) / scaling.divisor, cell.segments, rng=rng)


def _untestable(estimate: MeanEstimate, cell: CellDeltas) -> Verdict:
    if estimate.n == 0:
        return Verdict.BLIND if cell.blind and not cell.missing else Verdict.NO_SCORES
    return Verdict.TOO_FEW if estimate.state == "too few" else Verdict.DEGENERATE
