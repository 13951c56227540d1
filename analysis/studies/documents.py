"""The tables of the mixed-document study together: one report, its rows and its JSON document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.agreement import layout as agreement_layout
from analysis.agreement.alpha import Level
from analysis.agreement.table import alpha_table
from analysis.annotations import layout as error_layout
from analysis.annotations import records as error_records
from analysis.annotations.study import AnnotationStudy
from analysis.equivalence import layout as equivalence_layout
from analysis.equivalence import records as equivalence_records
from analysis.equivalence.options import EquivalenceOptions
from analysis.equivalence.pairs import FIRST, SECOND, pairs_from_judgements
from analysis.equivalence.table import equivalence
from analysis.judgements import Judgements, read_judgements
from analysis.printing.render import Report
from analysis.ranking import condition_layout, condition_records
from analysis.ranking.clusters import ClusterOptions
from analysis.ranking.condition_table import ConditionOptions, rank_conditions
from challenge_sets import DataReport

ALPHA_RESAMPLES = 1000


def document_study(
    judgements: Path | None,
    margins: Sequence[float],
    errors: tuple[AnnotationStudy, DataReport] | None,
    *,
    alpha: float,
    resamples: int,
    seed: int,
) -> tuple[Report, list[dict[str, Any]], dict[str, Any]]:
    """Equivalence, ranks and clusters, human-metric agreement, mechanism, alphas and error counts.

    What the inputs do not hold has no table: equivalence needs the conditions DOC and MIX, alphas need
    annotators, error counts a study of campaigns. ``margins`` are in units of the scores. Returns the report,
    the equivalence tests as rows, and the JSON document.
    """
    parts: list[Report] = []
    records: list[dict[str, Any]] = []
    document: dict[str, Any] = {}
    if judgements is not None:
        table = read_judgements(judgements)
        if {FIRST, SECOND} <= set(table.condition.levels):
            options = EquivalenceOptions(tuple(margins), alpha=alpha, resamples=resamples, seed=seed)
            scores = equivalence(pairs_from_judgements(table), options)
            parts.append(equivalence_layout.as_report(scores))
            records += equivalence_records.as_records(scores)
            document["equivalence"] = equivalence_records.as_document(scores)
        clusters = ClusterOptions(alpha=alpha, seed=seed)
        ranking = rank_conditions(table, ConditionOptions(resamples=resamples, seed=seed, clusters=clusters))
        parts.append(condition_layout.as_report(ranking))
        document["ranking"] = condition_records.as_document(ranking)
        parts += _alphas(table, seed, document)
    if errors is not None:
        study, report = errors
        parts.append(error_layout.as_report(study))
        document["errors"] = error_records.as_document(study, report)
    return _joined(parts), records, document


def _alphas(table: Judgements, seed: int, document: dict[str, Any]) -> list[Report]:
    if table.annotator is None:
        return []
    alphas = alpha_table(table, level=Level.INTERVAL, resamples=ALPHA_RESAMPLES, seed=seed)
    document["agreement"] = agreement_layout.alpha_document(alphas)
    return [agreement_layout.alpha_report(alphas)]


def _joined(parts: Sequence[Report]) -> Report:
    """One report of several: a mark may mean another thing in each, so the legend says of which it speaks."""
    legend = {(mark, f"{part.title}: {meaning}"): None for part in parts for mark, meaning in part.legend}
    sentences: Mapping[str, None] = dict.fromkeys(text for part in parts for text in part.introduction)
    return Report(
        "Mixed documents: the study's tables",
        tuple(sentences),
        tuple(sheet for part in parts for sheet in part.sheets),
        tuple(legend),
        tuple(f"{part.title}: {note}" for part in parts for note in part.notes),
    )
