"""Judgements as one number a unit, and the units on which systems can be compared fairly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.judgements import Judgements
from analysis.statistics.estimates import ROUNDING


@dataclass(frozen=True, slots=True)
class UnitTable:
    """Unit means of a table of judgements. A unit is one segment of a document; all names are sorted.

    ``document`` (shape ``(units,)``) numbers ``documents``; ``domain`` (shape ``(documents,)``) numbers
    ``domains``, which is empty where the table has none. Rows keep their codes in the arrays of shape
    ``(n,)``, so that a metric's scores are laid out only when they are asked for.
    """

    metrics: tuple[str, ...]
    conditions: tuple[str, ...]
    systems: tuple[str, ...]
    documents: tuple[str, ...]
    domains: tuple[str, ...]
    document: NDArray[np.intp]
    domain: NDArray[np.intp]
    metric_code: NDArray[np.intp]
    cell: NDArray[np.intp]
    score: NDArray[np.float64]

    def scores(self, metric: str) -> NDArray[np.float64]:
        """One metric's means over annotators, shape ``(conditions, systems, units)``; NaN where missing."""
        shape = (len(self.conditions), len(self.systems), self.document.size)
        rows = (self.metric_code == self.metrics.index(metric)) & ~np.isnan(self.score)
        size = int(np.prod(shape))
        counts = np.bincount(self.cell[rows], minlength=size)
        sums = np.bincount(self.cell[rows], weights=self.score[rows], minlength=size)
        means = np.full(size, np.nan)
        np.divide(sums, counts, out=means, where=counts > 0)
        return means.reshape(shape)


@dataclass(frozen=True, slots=True)
class Block:
    """Scores without gaps: every system on every unit in every condition, of one metric.

    ``values`` has shape ``(conditions, systems, units)``; ``unit`` and ``document`` (shape ``(units,)``) are
    codes of the table it comes from. ``left_out`` are systems with scores that lack a condition,
    ``incomplete`` counts units that had a score but not all of them.
    """

    metric: str
    conditions: tuple[str, ...]
    systems: tuple[str, ...]
    left_out: tuple[str, ...]
    incomplete: int
    unit: NDArray[np.intp]
    document: NDArray[np.intp]
    values: NDArray[np.float64]

    @property
    def units(self) -> int:
        """How many units all systems have in all conditions."""
        return int(self.unit.size)

    @property
    def documents(self) -> int:
        """How many documents these units come from."""
        return int(np.unique(self.document).size)

    @property
    def tolerance(self) -> float:
        """The difference between two means that is rounding, in the metric's units."""
        return ROUNDING * float(np.abs(self.values).max(initial=0.0))

    def means(self) -> NDArray[np.float64]:
        """Mean score of each system over the units, shape ``(conditions, systems)``; needs a unit."""
        return self.values.mean(axis=2)

    def among(self, documents: NDArray[np.bool_]) -> Block:
        """The same systems on the units of some documents; ``documents`` has the shape of the table's."""
        return self.where(documents[self.document])

    def where(self, units: NDArray[np.bool_]) -> Block:
        """The same systems on some of the units (shape ``(units,)``)."""
        return Block(
            self.metric,
            self.conditions,
            self.systems,
            self.left_out,
            self.incomplete,
            self.unit[units],
            self.document[units],
            self.values[:, :, units],
        )


def unit_table(judgements: Judgements) -> UnitTable:
    """Number the units of a table of judgements; neither the order of rows nor of names matters."""
    metric, condition, system, doc, segment = (
        column.by_name()
        for column in (
            judgements.metric,
            judgements.condition,
            judgements.system,
            judgements.doc,
            judgements.segment,
        )
    )
    keys, unit = np.unique(doc.codes * len(segment.levels) + segment.codes, return_inverse=True)
    domains: tuple[str, ...] = ()
    domain = np.zeros(len(doc.levels), dtype=np.intp)
    if judgements.domain is not None:
        named = judgements.domain.by_name()
        domains = named.levels
        domain[doc.codes] = named.codes
    row = condition.codes * len(system.levels) + system.codes
    return UnitTable(
        metrics=metric.levels,
        conditions=condition.levels,
        systems=system.levels,
        documents=doc.levels,
        domains=domains,
        document=(keys // len(segment.levels)).astype(np.intp),
        domain=domain,
        metric_code=metric.codes,
        cell=row * keys.size + unit.reshape(-1),
        score=judgements.score,
    )


def complete_block(table: UnitTable, metric: str) -> Block:
    """The part of a metric's scores that has no gap, so that systems differ in nothing but themselves.

    Conditions are those with any score of the metric; systems those with a score in each of these; units
    those that all of these systems have in all of these conditions.
    """
    scores = table.scores(metric)
    known = ~np.isnan(scores)
    conditions = np.flatnonzero(known.any(axis=(1, 2)))
    complete = known[conditions].any(axis=2).all(axis=0)
    scored = known.any(axis=(0, 2))
    systems = np.flatnonzero(complete & scored)
    chosen = np.ix_(conditions, systems)
    seen = known[chosen].any(axis=(0, 1))
    whole = seen & known[chosen].all(axis=(0, 1))
    return Block(
        metric=metric,
        conditions=tuple(table.conditions[place] for place in conditions),
        systems=tuple(table.systems[place] for place in systems),
        left_out=tuple(table.systems[place] for place in np.flatnonzero(scored & ~complete)),
        incomplete=int((seen & ~whole).sum()),
        unit=np.flatnonzero(whole),
        document=table.document[whole],
        values=scores[chosen][:, :, whole],
    )
