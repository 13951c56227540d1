"""Annotations as scores for other tools: the long table of judgements, and score files of mt-metrics-eval."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from challenge_sets import InputError
from challenge_sets.annotations import Annotation

JUDGEMENT_COLUMNS = ("condition", "system", "doc", "segment", "annotator", "domain", "score")
"""The columns of the table that ``analysis ranking`` and ``analysis agreement`` read; ``domain`` if known."""


def judgement_rows(conditions: Mapping[str, Iterable[Annotation]]) -> list[dict[str, object]]:
    """One row per condition, output and annotator, in that order; ``score``: higher is better.

    ``conditions`` are real annotations by condition. The score is the slider, or minus the penalty where the
    protocol has none. Where one annotator judged an output twice the mean stands for both. Without a domain
    for every row the column is left out.
    """
    scores: dict[tuple[str, str, str, int, str], list[float]] = defaultdict(list)
    domains: dict[tuple[str, str], str | None] = {}
    for condition, members in conditions.items():
        for found in members:
            line = -1 if found.line is None else found.line
            scores[condition, found.system, found.doc, line, found.annotator].append(found.value)
            domains[condition, found.doc] = found.domain
    columns = [name for name in JUDGEMENT_COLUMNS if name != "domain" or None not in domains.values()]
    rows = []
    for key in sorted(scores, key=lambda key: (list(conditions).index(key[0]), key)):
        condition, system, doc, line, annotator = key
        row = {
            "condition": condition,
            "system": system,
            "doc": doc,
            "segment": line,
            "annotator": annotator,
            "domain": domains[condition, doc],
            "score": fmean(scores[key]),
        }
        rows.append({name: row[name] for name in columns})
    return rows


def segment_scores(annotations: Sequence[Annotation], segments: int) -> dict[str, list[float | None]]:
    """Each system's scores in the order of ``segments`` lines, ``None`` where nobody annotated the output.

    ``annotations`` are real ones. An output's score is the mean over its annotations; higher is better.
    Raises ``InputError`` for a line beyond the corpus.
    """
    found: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for annotation in annotations:
        if annotation.line is None or annotation.line >= segments:
            raise InputError(f"line {annotation.line} of a corpus of {segments} segments")
        found[annotation.system][annotation.line].append(annotation.value)
    return {
        system: [fmean(lines[line]) if line in lines else None for line in range(segments)]
        for system, lines in sorted(found.items())
    }
