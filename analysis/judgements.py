"""Scores of translations under several conditions, as a long table: one row a judgement.

The table behind the mixed-document analyses (Kim et al. 2026): the same segments judged within a document of
one system (DOC), of mixed systems (MIX) or alone (SEG), by people or by metrics.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.long_table import TextColumn, read_long_table
from challenge_sets import InputError

HUMAN = "human"
"""What the scores are called where the table has no column ``metric``."""


@dataclass(frozen=True, slots=True)
class Judgements:
    """Columns of equal length ``n``; ``score`` is NaN where missing, higher is better.

    ``metric`` names who scored (a metric, or people). ``annotator`` and ``domain`` are ``None`` where the
    table does not have them.
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


def read_judgements(path: str | Path) -> Judgements:
    """Read ``condition,system,doc,segment,score`` and, if there, ``metric``, ``annotator`` and ``domain``.

    A segment's name has to be unique within its document only: the unit is (doc, segment). Raises
    ``InputError`` for what ``read_long_table`` refuses and for a unit judged twice by the same annotator
    (or metric) under one condition.
    """
    optional = ("metric", "annotator", "domain")
    table = read_long_table(
        path,
        text=("condition", "system", "doc", "segment", *optional),
        numbers=("score",),
        optional=optional,
    )
    text = table.text
    metric = text.get("metric") or TextColumn((HUMAN,), np.zeros(table.rows, dtype=np.intp))
    keys = [metric, text["condition"], text["system"], text["doc"], text["segment"]]
    if "annotator" in text:
        keys.append(text["annotator"])
    _refuse_repeats(keys, table.path)
    return Judgements(
        path=table.path,
        metric=metric,
        condition=text["condition"],
        system=text["system"],
        doc=text["doc"],
        segment=text["segment"],
        annotator=text.get("annotator"),
        domain=text.get("domain"),
        score=table.numbers["score"],
    )


def _refuse_repeats(keys: list[TextColumn], path: Path) -> None:
    codes = np.stack([key.codes for key in keys])
    _, first = np.unique(codes, axis=1, return_index=True)
    if first.size == codes.shape[1]:
        return
    row = int(np.setdiff1d(np.arange(codes.shape[1]), first)[0])
    names = ", ".join(key.levels[key.codes[row]] for key in keys)
    raise InputError(f"a second judgement of {names}", path=path, line=row + 2)
