"""Systems ranked under several conditions: everything that the table of judgements says about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from analysis.judgements import HUMAN, Judgements
from analysis.ranking.clusters import ClusterOptions, SystemRanking, rank_systems
from analysis.ranking.conditions import Reliability, TauBetween, reliabilities, taus_between
from analysis.ranking.mechanism import Explained, HumanAgreement, explained_by_segments, human_agreement
from analysis.ranking.units import Block, UnitTable, complete_block, unit_table
from analysis.statistics.rank import TauThreshold, tau_threshold
from challenge_sets import InputError


@dataclass(frozen=True, slots=True)
class ConditionOptions:
    """What to compute. ``gold`` names the human scores; ``None`` takes ``HUMAN`` if the table has it."""

    gold: str | None = None
    tau_min: TauThreshold = field(default_factory=lambda: tau_threshold("0.667"))
    resamples: int = 10_000
    seed: int = 0
    confidence: float = 0.95
    clusters: ClusterOptions = field(default_factory=ClusterOptions)


@dataclass(frozen=True, slots=True)
class RankedMetric:
    """The systems as one metric, or people, rank them: a ranking a condition, best systems first.

    ``missing`` judgements have no score. Conditions share ``systems`` and ``units``; ``rankings`` is empty
    where there is nothing that all systems have.
    """

    metric: str
    conditions: tuple[str, ...]
    systems: tuple[str, ...]
    left_out: tuple[str, ...]
    units: int
    documents: int
    incomplete: int
    missing: int
    rankings: tuple[SystemRanking, ...]


@dataclass(frozen=True, slots=True)
class ConditionRanking:
    """Rankings of systems under several conditions, how far they agree, and what they consist of.

    ``gold`` is ``None`` where the table has no human scores; ``agreement`` is empty then.
    """

    path: Path
    options: ConditionOptions
    gold: str | None
    conditions: tuple[str, ...]
    domains: tuple[str, ...]
    metrics: tuple[RankedMetric, ...]
    taus: tuple[TauBetween, ...]
    reliability: tuple[Reliability, ...]
    agreement: tuple[HumanAgreement, ...]
    mechanism: tuple[Explained, ...]


def rank_conditions(judgements: Judgements, options: ConditionOptions) -> ConditionRanking:
    """Rank the systems by every metric under every condition of a table (Kim et al. 2026).

    Human scores come first, then the metrics by name. Taus are of all documents and, where the table has
    domains, of each domain. Raises ``InputError`` where ``options.gold`` names nothing in the table.
    """
    table = unit_table(judgements)
    gold = options.gold or (HUMAN if HUMAN in table.metrics else None)
    if gold is not None and gold not in table.metrics:
        raise InputError(
            f"no scores of '{gold}'", path=judgements.path, hint=f"one of: {', '.join(table.metrics)}"
        )
    blocks = {
        name: complete_block(table, name) for name in sorted(table.metrics, key=lambda name: name != gold)
    }
    resampling: dict[str, Any] = {
        "resamples": options.resamples,
        "seed": options.seed,
        "confidence": options.confidence,
    }
    ranked, taus, reliability, agreement, mechanism = [], [], [], [], []
    for name, block in blocks.items():
        ranked.append(_ranked(table, block, options.clusters))
        for domain, part in _by_domain(table, block):
            taus += taus_between(part, options.tau_min, domain=domain, **resampling)
        reliability += reliabilities(table, block, options.tau_min, **resampling)
        if gold is not None and name != gold:
            agreement += human_agreement(blocks[gold], block, options.tau_min, **resampling)
        mechanism += explained_by_segments(table, name, **resampling)
    return ConditionRanking(
        path=judgements.path,
        options=options,
        gold=gold,
        conditions=table.conditions,
        domains=table.domains,
        metrics=tuple(ranked),
        taus=tuple(taus),
        reliability=tuple(reliability),
        agreement=tuple(agreement),
        mechanism=tuple(mechanism),
    )


def _by_domain(table: UnitTable, block: Block) -> list[tuple[str | None, Block]]:
    parts: list[tuple[str | None, Block]] = [(None, block)]
    if len(table.domains) > 1:
        parts += [(name, block.among(table.domain == place)) for place, name in enumerate(table.domains)]
    return parts


def _ranked(table: UnitTable, block: Block, options: ClusterOptions) -> RankedMetric:
    rankings = (rank_systems(block, condition, options) for condition in block.conditions)
    rows = table.metric_code == table.metrics.index(block.metric)
    return RankedMetric(
        metric=block.metric,
        conditions=block.conditions,
        systems=block.systems,
        left_out=block.left_out,
        units=block.units,
        documents=block.documents,
        incomplete=block.incomplete,
        missing=int(np.isnan(table.score[rows]).sum()),
        rankings=tuple(ranking for ranking in rankings if ranking is not None),
    )
