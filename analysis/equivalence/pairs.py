"""Scores of the same units under two conditions: read from a wide table, or paired out of judgements.

Differences are always second minus first, MIX - DOC: positive means that the mixed document scored higher.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from analysis.judgements import HUMAN, Judgements
from analysis.long_table import TextColumn, line_of, read_long_table
from analysis.statistics.estimates import ROUNDING
from challenge_sets import InputError

FIRST, SECOND = "DOC", "MIX"

_BY_ANNOTATOR_FROM = 0.5
"""Share of the units that pairing by annotator has to keep."""

PairedBy = Literal["row", "unit", "annotator", "unit mean"]
"""What a pair is: a row of a wide table, a unit's two scores (no annotators known), one annotator's two
scores of a unit, or a unit's two means over annotators, where those of the two conditions differ."""

Codes = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class ScorePairs:
    """What one source (a metric, or people) gave ``n`` units under two conditions, in metric units.

    ``first`` and ``second`` (shape ``(n,)``) are NaN where there is no score. ``doc``, ``annotator`` and
    ``domain`` number names; ``None`` where they are unknown. ``alone`` marks units that occur under one
    condition only (``None``: a wide table does not tell them from missing scores).
    """

    metric: str | None
    first: NDArray[np.float64]
    second: NDArray[np.float64]
    doc: Codes | None
    annotator: Codes | None
    domain: Codes | None
    paired_by: PairedBy = "row"
    alone: NDArray[np.bool_] | None = None

    @property
    def unmatched(self) -> int:
        """Number of units that occur under one condition only."""
        return 0 if self.alone is None else int(self.alone.sum())

    @property
    def noise(self) -> float:
        """Spread of differences that is rounding of the scores: 1e-12 of the largest score."""
        both = np.concatenate([self.first, self.second])
        return ROUNDING * float(np.abs(both[~np.isnan(both)]).max(initial=0.0))

    def rows(self, chosen: NDArray[np.bool_]) -> ScorePairs:
        """Those rows alone."""
        return replace(
            self,
            first=self.first[chosen],
            second=self.second[chosen],
            doc=None if self.doc is None else self.doc[chosen],
            annotator=None if self.annotator is None else self.annotator[chosen],
            domain=None if self.domain is None else self.domain[chosen],
            alone=None if self.alone is None else self.alone[chosen],
        )


@dataclass(frozen=True, slots=True)
class PairTable:
    """All sources of a table; ``first_name`` and ``second_name`` name conditions, ``domains`` the codes."""

    path: Path
    first_name: str
    second_name: str
    sources: tuple[ScorePairs, ...]
    domains: tuple[str, ...]


def read_pairs(path: str | Path) -> PairTable:
    """Read a CSV file with a row a unit: ``DOC,MIX`` and, if there, ``doc,annotator,domain,metric``.

    A missing score is an empty field. Without ``metric`` there is one source, named ``None``. The annotator
    may be empty for all rows of a source; a source of ``metric`` other than ``human`` with one annotator is a
    metric and has no annotators to generalise over. Raises ``InputError`` as ``read_long_table`` does, and
    for rows of a source of which only some have an annotator.
    """
    table = read_long_table(
        path,
        text=("doc", "annotator", "domain", "metric"),
        numbers=(FIRST, SECOND),
        optional=("doc", "annotator", "domain", "metric"),
        sparse=("annotator",),
    )
    text = {name: column.by_name() for name, column in table.text.items()}
    domain = table.text.get("domain")
    whole = ScorePairs(
        metric=None,
        first=table.numbers[FIRST],
        second=table.numbers[SECOND],
        doc=text["doc"].codes if "doc" in text else None,
        annotator=None,
        domain=None if domain is None else domain.codes,
    )
    metric = table.text.get("metric")
    names = metric.levels if metric is not None else (None,)
    sources = []
    for code, name in enumerate(names):
        chosen = np.ones(table.rows, dtype=bool) if metric is None else metric.codes == code
        annotator = None
        if "annotator" in text:
            annotator = _annotators(name or HUMAN, text["annotator"], chosen, table.path)
        sources.append(replace(whole.rows(chosen), metric=name, annotator=annotator))
    return PairTable(
        table.path, FIRST, SECOND, tuple(sources), () if domain is None else tuple(domain.levels)
    )


def pairs_from_judgements(judgements: Judgements, first: str = FIRST, second: str = SECOND) -> PairTable:
    """Pair the scores of two conditions by metric, system, document, segment and, where known, annotator.

    Where fewer than half of the units of a source that both conditions have were scored under both by one
    annotator, because different people saw the two, units are paired by their mean over annotators
    (``paired_by`` is then ``unit mean``); such pairs belong to no annotator, so that only documents remain to
    cluster by. Units under one condition only stay
    in, without the other score: missing for paired designs, values for unpaired ones. Single annotators as
    in ``read_pairs``. Raises ``InputError`` for an unknown condition and for two equal ones.
    """
    levels = judgements.condition.levels
    for name in (first, second):
        if name not in levels:
            raise InputError(
                f"no judgements under the condition {name!r}",
                path=judgements.path,
                hint=f"the conditions are {', '.join(levels)}",
            )
    if first == second:
        raise InputError(f"{first!r} is no pair of conditions", path=judgements.path)
    condition = judgements.condition.codes
    chosen = (condition == levels.index(first)) | (condition == levels.index(second))
    second_side = condition == levels.index(second)
    sources = [
        _pair_source(judgements, name, chosen & (judgements.metric.codes == code), second_side)
        for code, name in enumerate(judgements.metric.levels)
    ]
    domains = () if judgements.domain is None else tuple(judgements.domain.levels)
    return PairTable(
        judgements.path, first, second, tuple(source for source in sources if source.first.size), domains
    )


def _pair_source(
    judgements: Judgements, metric: str, chosen: NDArray[np.bool_], second_side: NDArray[np.bool_]
) -> ScorePairs:
    doc = judgements.doc.by_name().codes[chosen]
    side = second_side[chosen].astype(np.intp)
    score = judgements.score[chosen]
    unit = joint_codes(judgements.system.codes[chosen], doc, judgements.segment.codes[chosen])
    annotator = None
    if judgements.annotator is not None:
        annotator = _annotators(metric, judgements.annotator.by_name(), chosen, judgements.path)
    paired_by: PairedBy = "unit"
    key = unit
    if annotator is not None:
        by_annotator = joint_codes(unit, annotator)
        both = np.asarray(_sides(by_annotator, side).all(axis=1))[by_annotator]
        units = int(_sides(unit, side).all(axis=1).sum())
        # A few chance meetings of one annotator with a unit must not throw away all other units.
        if np.unique(unit[both]).size >= max(1.0, _BY_ANNOTATOR_FROM * units):
            key, paired_by = by_annotator, "annotator"
        else:
            annotator, paired_by = None, "unit mean"
    means = _means(key, side, score)
    _, row = np.unique(key, return_index=True)
    domain = None if judgements.domain is None else judgements.domain.codes[chosen]
    return ScorePairs(
        metric=metric,
        first=means[:, 0],
        second=means[:, 1],
        doc=doc[row],
        annotator=None if annotator is None else annotator[row],
        domain=None if domain is None else domain[row],
        paired_by=paired_by,
        alone=np.logical_not(_sides(key, side).all(axis=1)),
    )


def joint_codes(*columns: Codes) -> Codes:
    """Number the combinations of two or more codings that occur, without gaps, in the order of the codes."""
    joint = columns[0]
    for column in columns[1:]:
        # Numbered anew at each step, so that the product of the numbers of levels cannot overflow.
        joint = joint * (int(column.max(initial=0)) + 1) + column
        joint = np.unique(joint, return_inverse=True)[1].astype(np.intp)
    return joint


def _sides(key: Codes, side: Codes) -> NDArray[np.bool_]:
    """Which conditions each key occurs under, shape ``(keys, 2)``."""
    return _table(key, side, None) > 0


def _means(key: Codes, side: Codes, score: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean known score by key and condition, shape ``(keys, 2)``; NaN where there is none."""
    known = ~np.isnan(score)
    counts = _table(key, side, known.astype(np.float64))
    sums = _table(key, side, np.where(known, score, 0.0))
    return np.where(counts > 0, sums / np.maximum(counts, 1.0), np.nan)


def _table(key: Codes, side: Codes, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
    size = 2 * (int(key.max(initial=-1)) + 1)
    flat = np.bincount(2 * key + side, weights=weights, minlength=size)
    return flat.reshape(-1, 2).astype(np.float64)


def _annotators(metric: str, names: TextColumn, chosen: NDArray[np.bool_], path: Path) -> Codes | None:
    """The annotators of a source's rows, ``None`` where they have no name.

    A metric, whose rows may carry one name for form's sake, has none either.
    """
    codes = names.codes[chosen]
    nameless = np.array([not name for name in names.levels], dtype=bool)[codes]
    if nameless.any() and not nameless.all():
        row = int(np.flatnonzero(chosen)[np.argmax(nameless)])
        raise InputError(
            f"a score of {metric} without its annotator; others of it have one",
            path=path,
            line=line_of(path, row),
        )
    if nameless.all() or (metric != HUMAN and np.unique(codes).size == 1):
        return None
    return codes
