"""Krippendorff's alpha of judgements: per condition, of segments and documents, raw and z-scored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from analysis.agreement.alpha import Alpha, Level, krippendorff_alpha
from analysis.judgements import Judgements
from analysis.statistics.estimates import ROUNDING
from challenge_sets import InputError

RELIABLE_FROM = 0.667
"""Below it not even tentative conclusions (Krippendorff 2004, Content Analysis, 2nd ed., ch. 11)."""

Unit = Literal["document", "segment"]
Scores = Literal["raw", "z"]
UNITS: tuple[Unit, ...] = ("document", "segment")
SCORES: tuple[Scores, ...] = ("raw", "z")


@dataclass(frozen=True, slots=True)
class AlphaRow:
    """Alpha of one kind of unit in one condition.

    ``annotators`` gave values that could be paired; ``partial`` document means rest on fewer segments than
    the document has there.
    """

    metric: str
    condition: str
    unit: Unit
    scores: Scores
    annotators: int
    partial: int
    alpha: Alpha

    @property
    def reliable(self) -> bool | None:
        """Whether alpha is at least ``RELIABLE_FROM``; ``None`` where there is none."""
        return None if self.alpha.alpha is None else self.alpha.alpha >= RELIABLE_FROM


@dataclass(frozen=True, slots=True)
class AlphaTable:
    """Rows by metric, condition, unit and scores.

    ``without_z`` names annotators whose scores do not vary, ``without_annotators`` metrics left out because
    their scores are nobody's: those of a program.
    """

    rows: tuple[AlphaRow, ...]
    without_z: tuple[str, ...]
    without_annotators: tuple[str, ...]
    level: Level
    confidence: float
    resamples: int
    seed: int


@dataclass(frozen=True, slots=True)
class _Scored:
    """Columns of the judgements of one metric, all of shape (n,): codes in the order of names, and scores."""

    condition: NDArray[np.intp]
    system: NDArray[np.intp]
    doc: NDArray[np.intp]
    segment: NDArray[np.intp]
    annotator: NDArray[np.intp]
    score: NDArray[np.float64]

    def where(self, rows: NDArray[np.bool_]) -> _Scored:
        return _Scored(
            self.condition[rows],
            self.system[rows],
            self.doc[rows],
            self.segment[rows],
            self.annotator[rows],
            self.score[rows],
        )


def alpha_table(
    judgements: Judgements,
    *,
    level: Level = Level.INTERVAL,
    resamples: int = 0,
    seed: int = 0,
    confidence: float = 0.95,
) -> AlphaTable:
    """Alpha per metric and condition at both units, of raw and of z-scored scores (Kim et al. 2026).

    A segment unit is one (system, document, segment), a document unit one (system, document) with each
    annotator's mean over the segments that they scored there and somebody else did, too: means over other
    segments would differ without any disagreement. z-scores take an annotator's mean and
    standard deviation (n - 1) over all their scores of the metric, in every condition: this removes how
    strict they are and how much of the scale they use, and leaves what a condition did to them. An
    annotator whose scores do not vary has no z-scores. Intervals resample documents. ``nominal`` values
    have no mean and no z-score: only raw segments are there.

    Raises ``InputError`` where no judgement names its annotator. The order of rows does not matter.
    """
    annotator = judgements.annotator
    if annotator is None or not any(annotator.levels):
        raise InputError("no score has an annotator: agreement is between annotators", path=judgements.path)
    scored = _Scored(
        condition=judgements.condition.by_name().codes,
        system=judgements.system.by_name().codes,
        doc=judgements.doc.by_name().codes,
        segment=judgements.segment.by_name().codes,
        annotator=annotator.by_name().codes,
        score=judgements.score,
    )
    metric_codes = judgements.metric.by_name().codes
    conditions, annotators = sorted(judgements.condition.levels), sorted(annotator.levels)
    rows: list[AlphaRow] = []
    without_z: set[str] = set()
    without_annotators: list[str] = []
    for number, metric in enumerate(sorted(judgements.metric.levels)):
        raw = scored.where(metric_codes == number)
        # A metric's scores have a name of an annotator all or none of them: see ``read_judgements``.
        if not annotators[raw.annotator[0]]:
            without_annotators.append(metric)
            continue
        standardised, constant = z_scores(raw.score, raw.annotator)
        if level is not Level.NOMINAL:
            without_z |= {annotators[code] for code in constant}
        both: dict[Scores, _Scored] = {"raw": raw, "z": replace(raw, score=standardised)}
        for code in np.unique(raw.condition):
            for unit, scores in _kinds(level):
                part = both[scores].where(raw.condition == code)
                partial = 0
                if unit == "document":
                    part, partial = _document_means(_judged_twice(part))
                units = _codes(part.system, part.doc, part.segment)
                alpha = krippendorff_alpha(
                    part.score,
                    units,
                    level=level,
                    clusters=part.doc,
                    resamples=resamples,
                    seed=seed,
                    confidence=confidence,
                )
                row_annotators = _paired_annotators(part, units)
                rows.append(AlphaRow(metric, conditions[code], unit, scores, row_annotators, partial, alpha))
    return AlphaTable(
        tuple(rows),
        tuple(sorted(without_z)),
        tuple(without_annotators),
        level,
        confidence,
        resamples,
        seed,
    )


def _kinds(level: Level) -> Iterator[tuple[Unit, Scores]]:
    if level is Level.NOMINAL:
        yield "segment", "raw"
        return
    for unit in UNITS:
        for scores in SCORES:
            yield unit, scores


def z_scores(
    score: NDArray[np.float64], annotator: NDArray[np.intp]
) -> tuple[NDArray[np.float64], list[int]]:
    """Each score less its annotator's mean, over their standard deviation (n - 1); shape ``(n,)``.

    Also the codes of annotators with scores that do not vary (or a single one): NaN, as missing scores are.
    """
    standardised = np.full(score.size, np.nan)
    constant = []
    for code in np.unique(annotator):
        here = (annotator == code) & ~np.isnan(score)
        own = score[here]
        if own.size == 0:
            continue
        if np.ptp(own) <= ROUNDING * np.abs(own).max():
            constant.append(int(code))
            continue
        standardised[here] = (own - own.mean()) / own.std(ddof=1)
    return standardised, constant


def _judged_twice(scored: _Scored) -> _Scored:
    """The same rows, without the scores of segments that a single annotator scored."""
    known = ~np.isnan(scored.score)
    units = _codes(scored.system, scored.doc, scored.segment)
    several = np.bincount(units[known], minlength=int(units.max(initial=-1)) + 1)[units] > 1
    return replace(scored, score=np.where(several, scored.score, np.nan))


def _document_means(scored: _Scored) -> tuple[_Scored, int]:
    """One row an annotator, system and document, its segment 0; and how many means lack a segment."""
    document = _codes(scored.system, scored.doc)
    segments_of = np.bincount(np.unique(np.stack([document, scored.segment]), axis=1)[0])
    known = ~np.isnan(scored.score)
    judged = _codes(document, scored.annotator)
    first = np.unique(judged, return_index=True)[1]
    count = np.bincount(judged[known], minlength=first.size)
    total = np.bincount(judged[known], weights=scored.score[known], minlength=first.size)
    means = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    partial = (count > 0) & (count < segments_of[document[first]])
    return _Scored(
        scored.condition[first],
        scored.system[first],
        scored.doc[first],
        np.zeros(first.size, dtype=np.intp),
        scored.annotator[first],
        means,
    ), int(partial.sum())


def _paired_annotators(scored: _Scored, units: NDArray[np.intp]) -> int:
    known = ~np.isnan(scored.score)
    paired = np.bincount(units[known], minlength=int(units.max()) + 1)[units] > 1
    return int(np.unique(scored.annotator[known & paired]).size)


def _codes(*columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """A number for each combination of the columns' codes, in their order."""
    combined = columns[0]
    for column in columns[1:]:
        combined = np.unique(combined * (int(column.max()) + 1) + column, return_inverse=True)[1]
    return np.unique(combined, return_inverse=True)[1]
