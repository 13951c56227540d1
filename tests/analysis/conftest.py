"""Small sets and score tables, written the way the other rooms write them."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from challenge_sets import (
    BLIND,
    SCORE_COLUMNS,
    ChallengeSet,
    Edit,
    Generator,
    Kind,
    Pair,
    Score,
    SetWriter,
    Span,
    Translation,
    Vetting,
)
from challenge_sets.files import sha256_file, write_json
from metrics.base import MetricAbout
from metrics.tables import ABOUT, FORMAT, FORMAT_VERSION, SCORES


def describe(name: str, **changes: object) -> MetricAbout:
    plain = MetricAbout(
        name=name,
        signature=f"{name}|lang:en|version:1",
        needs=(),
        inputs=("hypothesis",),
        higher_is_better=True,
        unit="segment",
        sentinel=False,
        tie_threshold=1e-9,
        target_lang="en",
        pseudo_reference=None,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Row:
    """One pair; ``scores`` maps a metric's place to (original, perturbed), to a status, or to BLIND."""

    item: str
    category: str
    kind: Kind
    scores: Mapping[int, tuple[float, float] | str]
    system: str = "sys"
    lang: str = "en"
    vetting: Vetting = field(default_factory=Vetting)
    doc: str = "doc"

    @property
    def name(self) -> str:
        return f"{self.category}-{self.item}-{self.system}"


Write = Callable[..., tuple[Path, Path]]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a set and its scores below ``tmp_path``; ``shuffle`` is the seed of another row order."""

    def make(
        rows: Sequence[Row],
        metrics: Sequence[MetricAbout],
        *,
        name: str = "set",
        shuffle: int | None = None,
        twice: bool = False,
    ) -> tuple[Path, Path]:
        directory = tmp_path / name
        with SetWriter(directory, {"name": name}) as writer:
            for item, system, lang, doc in dict.fromkeys(
                (row.item, row.system, row.lang, row.doc) for row in rows
            ):
                writer.add(Translation(item, system, "source", "a text", "ko", lang, doc))
            for row in rows:
                writer.add(
                    Pair(
                        pair=row.name,
                        item=row.item,
                        system=row.system,
                        category=row.category,
                        kind=row.kind,
                        original="a text",
                        perturbed="a tent",
                        edits=(Edit(Span(2, 6, "text"), Span(2, 6, "tent")),),
                        severity="major",
                        generator=Generator(row.category, "1", "rule", 0),
                        vetting=row.vetting,
                    )
                )
        order = list(rows)
        if shuffle is not None:
            random.Random(shuffle).shuffle(order)
        scores = [
            score
            for place, metric in enumerate(metrics)
            for row in order
            for score in _scores(metric, row, place)
        ]
        _write_scores(directory, metrics, scores + scores[:1] if twice else scores)
        return directory, directory / "scores"

    return make


def _write_scores(directory: Path, metrics: Sequence[MetricAbout], scores: Sequence[Score]) -> None:
    """Both files of a scores directory, spelled out by hand."""
    table = directory / "scores" / SCORES
    table.parent.mkdir(exist_ok=True)
    with table.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(SCORE_COLUMNS)
        for score in scores:
            values = (getattr(score, name) for name in SCORE_COLUMNS)
            writer.writerow(["" if value is None else str(value) for value in values])
    write_json(
        table.with_name(ABOUT),
        {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "set": directory.name,
            "fingerprint": ChallengeSet(directory).fingerprint,
            "metrics": [metric.to_json() | {"counts": {}, "blind_pairs": 0} for metric in metrics],
            "files": {SCORES: {"sha256": sha256_file(table)}},
        },
    )


def _scores(metric: MetricAbout, row: Row, place: int) -> list[Score]:
    given = row.scores.get(place)
    if given is None:
        return []
    values: tuple[float | None, float | None] = (1.0, None)
    status, reason = "ok", ""
    if isinstance(given, tuple):
        values = given
    elif given == BLIND:
        values, reason = (3.0, 3.0), f"{BLIND}: the tokens are the same"
    else:
        status = given
    return [
        Score(
            metric=metric.name,
            signature=metric.signature,
            unit="segment",
            value=value,
            raw=value,
            status="ok" if value is not None else status,  # type: ignore[arg-type]
            reason=reason,
            pair=row.name,
            side=side,  # type: ignore[arg-type]
            item=row.item,
            system=row.system,
            doc="doc",
        )
        for value, side in zip(values, ("original", "perturbed"), strict=True)
    ]


@pytest.fixture
def row() -> type[Row]:
    """The class of one pair with its scores."""
    return Row


@pytest.fixture
def about() -> Callable[..., MetricAbout]:
    """Describes a metric: ``about("chrf", sentinel=True)``."""
    return describe


@pytest.fixture
def sample() -> tuple[list[Row], list[MetricAbout]]:
    """Two metrics and a baseline on two error, two variation and two control categories, 40 segments."""
    rng = random.Random(5)
    rows = []
    for number in range(40):
        for category, kind, effects in (
            ("negation", "error", (1.0, 0.0)),
            ("number", "error", (0.0, -2.0)),
            ("name format", "variation", (0.02, 1.5)),
            ("segmentation", "variation", (0.0, 0.3)),
            ("identity", "control", None),
            ("shuffled words", "control", (5.0, 5.0)),
        ):
            scores = {}
            for place, spread in ((0, 0.05), (1, 20.0), (2, 1.0)):
                original = rng.gauss(10 * spread, spread)
                effect = 0.0 if effects is None else (*effects, 0.0)[place] + rng.gauss(0, 0.4)
                scores[place] = (original, original if effects is None else original - spread * effect)
            rows.append(Row(f"item{number}", category, kind, scores))  # type: ignore[arg-type]
    metrics = [describe("chrf"), describe("comet", tie_threshold=0.1), describe("random", sentinel=True)]
    return rows, metrics
