"""Do conditions rank systems alike: tau between conditions, and how well one condition agrees with itself."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from analysis.ranking.documents import document_sums, resampled_means, split_means
from analysis.ranking.judges import split_judgements, twice_judged
from analysis.ranking.units import Block, UnitTable
from analysis.statistics.rank import (
    KendallTau,
    TauRows,
    TauThreshold,
    average_ranks,
    identical_or_adjacent,
    kendall_tau,
    share_below,
    tau_b_rows,
)
from analysis.statistics.resampling import percentile_interval

JUDGE_SPLITS = 1_000
"""Random halves of the judgements at most: each goes through all of them."""

State = Literal["ok", "one document", "constant", "one system", "no common units"]
MEANINGS: dict[str, str] = {
    "one document": "nothing to resample: no interval",
    "constant": "all systems have the same mean in a condition: no ranking to compare",
    "one system": "fewer than two systems have scores in every condition",
    "no common units": "there is no segment that all systems have in all conditions",
}


@dataclass(frozen=True, slots=True)
class ResampledTaus:
    """Tau over resampled documents: describes how it varies with them, tests nothing.

    Of ``resamples``, ``undefined`` have no tau and are in none of the numbers; ``below`` is the share below
    the threshold. The mean lies below tau of all documents, because a resample adds noise to both rankings.
    """

    mean: float
    interval: tuple[float, float] | None
    below: float | None
    undefined: int
    resamples: int


@dataclass(frozen=True, slots=True)
class TauBetween:
    """Agreement of two conditions on the ranking of systems; ``domain`` is ``None`` for all documents.

    ``adjacent`` systems have ranks in the two conditions at most one apart; ``reaches`` says whether tau is
    not below the threshold. ``same_scores``: every unit of every system has one score in both conditions, so
    that the metric cannot see what they differ in, and tau of 1 says nothing.
    """

    metric: str
    domain: str | None
    first: str
    second: str
    systems: int
    units: int
    documents: int
    tau: KendallTau | None
    reaches: bool | None
    adjacent: int | None
    same_scores: bool
    resampled: ResampledTaus | None
    state: State


@dataclass(frozen=True, slots=True)
class Reliability:
    """How well one condition's ranking agrees with itself over other documents.

    ``judges``: tau between two random halves of each unit's judgements, on the ``judged_twice`` units that
    have two of every system; ``None`` where there is none. ``halves``: tau between two random halves of the
    documents. ``against_all``: tau between resampled documents and all of them.
    """

    metric: str
    condition: str
    systems: int
    units: int
    documents: int
    judged_twice: int
    judges: ResampledTaus | None
    halves: ResampledTaus | None
    against_all: ResampledTaus | None
    state: State


def taus_between(
    block: Block,
    threshold: TauThreshold,
    *,
    domain: str | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> list[TauBetween]:
    """Kendall's tau-b between the system means of every two conditions, with a bootstrap of documents.

    A system's mean is over units (long documents count more), the same units for all systems and conditions.
    Documents are drawn with replacement, the same draw for all conditions; the interval is a percentile
    interval. Kim et al. 2026, section on rankings (H2).
    """
    state = _state(block)
    drawn, means = None, None
    if state == "ok":
        means = block.means()
        sums = document_sums(block)
        drawn = resampled_means(sums, resamples, seed) if sums.documents > 1 else None
    same = block.tolerance, block.tolerance
    results = []
    for (a, first), (b, second) in combinations(enumerate(block.conditions), 2):
        tau, reaches, adjacent, resampled, own = None, None, None, None, state
        if means is not None:
            tau = kendall_tau(means[a], means[b], tolerance=same)
            if tau.tau is None:
                own = "constant"
            else:
                rows = tau_b_rows(means[[a]], means[[b]], tolerance=same)
                reaches = share_below(threshold, rows) == 0.0
                ranks = [average_ranks(means[place], tolerance=block.tolerance) for place in (a, b)]
                adjacent = identical_or_adjacent(*ranks)
                own = "ok" if drawn is not None else "one document"
                if drawn is not None:
                    rows = tau_b_rows(drawn[:, a], drawn[:, b], tolerance=same)
                    resampled = describe_taus(rows, threshold, confidence)
        results.append(
            TauBetween(
                metric=block.metric,
                domain=domain,
                first=first,
                second=second,
                systems=len(block.systems),
                units=block.units,
                documents=block.documents,
                tau=tau,
                reaches=reaches,
                adjacent=adjacent,
                same_scores=block.units > 0
                and bool(np.abs(block.values[a] - block.values[b]).max(initial=0.0) <= block.tolerance),
                resampled=resampled,
                state=own,
            )
        )
    return results


def reliabilities(
    table: UnitTable,
    block: Block,
    threshold: TauThreshold,
    *,
    resamples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> list[Reliability]:
    """How well each condition agrees with itself: the baseline for tau between conditions.

    A tau between conditions of less than 1 may be nothing but noise: these taus show how much noise there is.
    Nearest to it is that between halves of the judgements, as two conditions share their translations, too;
    but each half has half the judgements. Halves of the documents share no translation and have half the
    documents: what a new benchmark of that size would give, lower than what two conditions can reach. Halves
    of judgements are drawn at most ``JUDGE_SPLITS`` times.
    """
    state = _state(block)
    whole, drawn, halves = None, None, None
    if state == "ok":
        sums = document_sums(block)
        if sums.documents > 1:
            whole = block.means()
            drawn = resampled_means(sums, resamples, seed)
            halves = split_means(sums, resamples, seed)
        else:
            state = "one document"
    same = block.tolerance, block.tolerance
    results = []
    for place, condition in enumerate(block.conditions):
        judges, against_all, between, own = None, None, None, state
        twice = _twice_judged(table, block, condition)
        if twice is not None:
            splits = min(resamples, JUDGE_SPLITS)
            parts = split_judgements(table, twice, condition, splits, seed)
            judges = describe_taus(tau_b_rows(*parts, tolerance=same), threshold, confidence)
        if whole is not None and drawn is not None and halves is not None:
            full = np.broadcast_to(whole[place], drawn[:, place].shape)
            rows = tau_b_rows(drawn[:, place], full, tolerance=same)
            against_all = describe_taus(rows, threshold, confidence)
            rows = tau_b_rows(halves[0][:, place], halves[1][:, place], tolerance=same)
            between = describe_taus(rows, threshold, confidence)
            own = "constant" if against_all is None or between is None else "ok"
        results.append(
            Reliability(
                metric=block.metric,
                condition=condition,
                systems=len(block.systems),
                units=block.units,
                documents=block.documents,
                judged_twice=0 if twice is None else twice.units,
                judges=judges,
                halves=between,
                against_all=against_all,
                state=own,
            )
        )
    return results


def _twice_judged(table: UnitTable, block: Block, condition: str) -> Block | None:
    if _state(block) != "ok":
        return None
    part = block.where(twice_judged(table, block, condition))
    return part if part.units else None


def describe_taus(rows: TauRows, threshold: TauThreshold, confidence: float) -> ResampledTaus | None:
    """Mean, percentile interval and share below the threshold of resampled taus; ``None`` without any."""
    tau: NDArray[np.float64] = rows.tau
    known = ~np.isnan(tau)
    if not known.any():
        return None
    return ResampledTaus(
        mean=float(tau[known].mean()),
        interval=percentile_interval(tau, confidence),
        below=share_below(threshold, rows),
        undefined=int((~known).sum()),
        resamples=int(tau.size),
    )


def _state(block: Block) -> State:
    if len(block.systems) < 2:
        return "one system"
    return "ok" if block.units else "no common units"
