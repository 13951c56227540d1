"""Scores of translations under several conditions, as a long table: one row a judgement.

The table behind the mixed-document analyses (Kim et al. 2026): the same segments judged within a document of
one system (DOC), of mixed systems (MIX) or alone (SEG), by people or by metrics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.long_table import TextColumn, line_of, read_long_table
from challenge_sets import InputError

HUMAN = "human"
"""What the scores are called where the table has no column ``metric``."""
ALL = "all"
"""What the condition is called where the table has no column ``condition``."""


@dataclass(frozen=True, slots=True)
class Judgements:
    """Columns of equal length ``n``; ``score`` is NaN where missing, higher is better.

    ``metric`` names who scored (a metric, or people). ``annotator`` and ``domain`` are ``None`` where the
    table does not have them; the scores of a metric have the annotator ``""`` in a table of people's, too.
    """

    path: Path
    metric: TextColumn
    condition: TextColumn
    system: TextColumn
    doc: TextColumn
    segment: TextColumn
    annotator: TextColumn | None
    domain: TextColumn | None
    score: NDArray[np.float64]

    @property
    def rows(self) -> int:
        """Number of judgements, missing ones included."""
        return int(self.score.size)


def read_judgements(
    path: str | Path, *, optional: Sequence[str] = ("metric", "annotator", "domain")
) -> Judgements:
    """Read the columns ``condition,system,doc,segment,score,metric,annotator,domain`` of a CSV file.

    ``optional`` names those of them that may be absent, out of ``condition`` (all rows are then of one,
    ``ALL``), ``metric`` (then ``HUMAN``), ``annotator`` and ``domain``.
    A segment's name has to be unique within its document only: the unit is (doc, segment). The annotator
    may be empty for all scores of a metric, but not for some. Raises ``InputError`` for what
    ``read_long_table`` refuses, for a unit judged twice by the same annotator (or metric) under one
    condition, and for a document in two domains.
    """
    table = read_long_table(
        path,
        text=("condition", "system", "doc", "segment", "metric", "annotator", "domain"),
        numbers=("score",),
        optional=optional,
        sparse=("annotator",),
    )
    text = table.text
    metric = text.get("metric") or _constant(HUMAN, table.rows)
    condition = text.get("condition") or _constant(ALL, table.rows)
    keys = [metric, condition, text["system"], text["doc"], text["segment"]]
    if "annotator" in text:
        _refuse_nameless(metric, text["annotator"], table.path)
        keys.append(text["annotator"])
    _refuse_repeats(keys, table.path)
    if "domain" in text:
        _refuse_two_domains(text["doc"], text["domain"], table.path)
    return Judgements(
        path=table.path,
        metric=metric,
        condition=condition,
        system=text["system"],
        doc=text["doc"],
        segment=text["segment"],
        annotator=text.get("annotator"),
        domain=text.get("domain"),
        score=table.numbers["score"],
    )


def _constant(level: str, rows: int) -> TextColumn:
    return TextColumn((level,), np.zeros(rows, dtype=np.intp))


def _refuse_nameless(metric: TextColumn, annotator: TextColumn, path: Path) -> None:
    nameless = np.array([not name for name in annotator.levels])[annotator.codes]
    some = np.zeros(len(metric.levels), dtype=bool)
    some[metric.codes[~nameless]] = True
    wrong = nameless & some[metric.codes]
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"a score of {metric.levels[metric.codes[row]]} without its annotator; others of it have one",
            path=path,
            line=line_of(path, row),
        )


def _refuse_repeats(keys: list[TextColumn], path: Path) -> None:
    codes = np.stack([key.codes for key in keys])
    _, first = np.unique(codes, axis=1, return_index=True)
    if first.size == codes.shape[1]:
        return
    row = int(np.setdiff1d(np.arange(codes.shape[1]), first)[0])
    names = ", ".join(name for name in (key.levels[key.codes[row]] for key in keys) if name)
    raise InputError(f"a second judgement of {names}", path=path, line=line_of(path, row))


def _refuse_two_domains(doc: TextColumn, domain: TextColumn, path: Path) -> None:
    first = np.unique(doc.codes, return_index=True)[1]
    wrong = domain.codes != domain.codes[first][doc.codes]
    if wrong.any():
        row = int(np.argmax(wrong))
        one, other = (domain.levels[domain.codes[place]] for place in (first[doc.codes[row]], row))
        raise InputError(
            f"the document {doc.levels[doc.codes[row]]} is in the domains {one} and {other}",
            path=path,
            line=line_of(path, row),
        )
