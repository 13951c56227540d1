"""The tables of the minimal-pair study together: one report, its rows and its JSON document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from analysis.agreement.labels import agreement_rows, read_labels
from analysis.agreement.layout import kappa_document, kappa_sheet
from analysis.mixed.interaction import Interaction
from analysis.printing.render import Report, Sheet
from analysis.sensitivity.deltas import read_deltas, read_deltas_by
from analysis.sensitivity.layout import interaction_lines, legend, test_lines
from analysis.sensitivity.models import metric_by_level
from analysis.sensitivity.options import SensitivityOptions
from analysis.sensitivity.records import as_document, as_records, interaction_document
from analysis.sensitivity.scores import PairScores
from analysis.sensitivity.table import SensitivityTable, scale, sensitivity
from analysis.studies.categories import categories_sheet
from analysis.studies.metrics_used import metrics_sheet
from analysis.studies.minimal_pairs import level_sheets, sensitivity_sheets
from challenge_sets import ChallengeSet


def pair_study(
    set_directory: Path | None, scores: Path | None, factor: str | None, labels: Path | None, alpha: float
) -> tuple[Report, list[dict[str, Any]], dict[str, Any]]:
    """The minimal-pair study: categories, metrics, sensitivity, its parts by ``factor``, agreement.

    A set comes with its scores; ``labels`` is a table of two annotators' labels. Returns the report, the
    cells as rows at full precision, and the JSON document. Raises ``InputError`` for what is wrong with the
    inputs.
    """
    sheets: list[Sheet] = []
    legend_entries: tuple[tuple[str, str], ...] = ()
    notes: list[str] = []
    records: list[dict[str, Any]] = []
    document: dict[str, Any] = {}
    if set_directory is not None and scores is not None:
        opened = ChallengeSet(set_directory)
        table, levels, between = _sensitivity(opened, PairScores(scores, opened), factor, alpha)
        sheets += [categories_sheet(opened.pairs()), *sensitivity_sheets(table)]
        sheets += level_sheets(factor or "", levels)
        sheets.append(metrics_sheet([entry.metric for entry in table.metrics]))
        legend_entries = legend([table, *levels.values()])
        notes += interaction_lines(table)
        records += [{"factor": "", "level": "", **record} for record in as_records(table)]
        document["sensitivity"] = as_document(table)
        if factor is not None and between is not None:
            notes += test_lines(f"Interaction metric × {factor}, joint mixed model", between)
            for level, part in levels.items():
                records += [{"factor": factor, "level": level, **record} for record in as_records(part)]
            document["by"] = {
                "factor": factor,
                "interaction": interaction_document(between),
                "levels": {level: as_document(part) for level, part in levels.items()},
            }
    if labels is not None:
        rows = agreement_rows(read_labels(labels), resamples=1000, seed=0)
        sheets.append(kappa_sheet(rows))
        document["agreement"] = kappa_document(rows)
    report = Report("Minimal pairs: the study's tables", (), tuple(sheets), legend_entries, tuple(notes))
    return report, records, document


def _sensitivity(
    opened: ChallengeSet, scores: PairScores, factor: str | None, alpha: float
) -> tuple[SensitivityTable, dict[str, SensitivityTable], Interaction | None]:
    """The whole table, one a level on the whole's scale, and the test of metric × factor."""
    options = SensitivityOptions(alpha=alpha)
    if factor is None:
        return sensitivity(read_deltas(opened, scores), options), {}, None
    whole, parts = read_deltas_by(opened, scores, factor)
    levels = {level: sensitivity(part, options, scale_from=whole) for level, part in parts.items()}
    between = metric_by_level([scale(part, options.standardize, whole) for part in parts.values()])
    return sensitivity(whole, options), levels, between
