"""A directory laid out as in mt-metrics-eval, and tables of judgements, written by hand."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from analysis.judgements import Judgements, read_judgements

Blocks = Mapping[str, Sequence[float | None]]
WriteMtme = Callable[..., Path]


@pytest.fixture
def write_mtme(tmp_path: Path) -> WriteMtme:
    """``write_mtme(gold, metrics, ...)``: metrics by ``NAME-REFERENCE``, system scores by the same names."""

    def write(
        gold: Blocks,
        metrics: Mapping[str, Blocks],
        *,
        system_scores: Mapping[str, Mapping[str, float | None]] | None = None,
        references: Sequence[str] = (),
        documents: Sequence[str] | None = None,
        name: str = "bench",
    ) -> Path:
        root = tmp_path / name
        for folder in ("human-scores", "metric-scores/en-de", "references", "documents"):
            (root / folder).mkdir(parents=True)
        _write(root / "human-scores" / "en-de.mqm.seg.score", gold)
        for label, blocks in metrics.items():
            _write(root / "metric-scores" / "en-de" / f"{label}.seg.score", blocks)
        for label, scores in (system_scores or {}).items():
            folder = root / "human-scores" if label == "mqm" else root / "metric-scores" / "en-de"
            file = "en-de.mqm.sys.score" if label == "mqm" else f"{label}.sys.score"
            _write(folder / file, {system: [score] for system, score in scores.items()})
        for reference in references:
            (root / "references" / f"en-de.{reference}.txt").write_text("x\n")
        if documents is not None:
            (root / "documents" / "en-de.docs").write_text("".join(f"news\t{doc}\n" for doc in documents))
        return root

    return write


def _write(path: Path, blocks: Blocks) -> None:
    lines = [f"{system}\t{value}\n" for system, values in blocks.items() for value in values]
    path.write_text("".join(lines))


Row = Mapping[str, object]
Judged = Callable[..., Judgements]


@pytest.fixture
def judged(tmp_path: Path) -> Judged:
    """Write rows (mappings of columns, the same in all) as a table of judgements, and read it."""

    def write(rows: Sequence[Row], name: str = "judgements.csv") -> Judgements:
        path = tmp_path / name
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        return read_judgements(path, optional=("condition", "metric", "annotator", "domain"))

    return write


@pytest.fixture
def study() -> list[dict[str, object]]:
    """A small mixed-document study: 5 systems, 8 documents of 2 to 4 segments in two domains, two judges.

    People (``human``) and a metric that lacks the system A score under DOC, MIX and SEG, in whole points, so
    that ties occur.
    """
    rng = np.random.default_rng(7)
    rows: list[dict[str, object]] = []
    for doc in range(8):
        for segment in range(2 + doc % 3):
            for place, system in enumerate("ABCDE"):
                quality = 60 + 3 * place + rng.normal(0, 8)
                for condition, noise in (("DOC", 9), ("MIX", 5), ("SEG", 5)):
                    key = {"condition": condition, "system": system, "doc": f"d{doc}", "segment": segment}
                    key |= {"domain": "news" if doc % 2 else "social"}
                    for judge in ("ann1", "ann2"):
                        score = round(quality + rng.normal(0, noise))
                        rows.append({**key, "metric": "human", "annotator": judge, "score": score})
                    if system != "A":
                        score = round(quality / 2 + rng.normal(0, 3), 2)
                        rows.append({**key, "metric": "chrF", "annotator": "", "score": score})
    return rows
