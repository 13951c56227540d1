"""``scores.csv`` (one row a score) and ``scores.json`` (what the scores are), written whole and read back."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from challenge_sets import (
    BLIND,
    SCORE_COLUMNS,
    ChallengeSet,
    DataReport,
    InputError,
    MarkedError,
    Score,
    Side,
    Status,
)
from challenge_sets.files import atomic_file, parse_json, read_text, sha256_file, write_json
from metrics.base import MetricAbout
from metrics.cells import PairRow
from metrics.marked import ERRORS, ErrorWriter

SCORES = "scores.csv"
ABOUT = "scores.json"
FORMAT = "mt-blindspots/scores"
FORMAT_VERSION = 1


class Cell(NamedTuple):
    """One side of a pair with its raw score or why there is none, and what else was said of it."""

    row: PairRow
    side: Side
    raw: float | None
    status: Status
    reason: str
    blind: bool = False
    """Whether the pair is blind by construction."""
    errors: tuple[MarkedError, ...] | None = None
    labels: Mapping[str, str] = {}


_AGAIN = "score the set again: python -m metrics score"


@dataclass(frozen=True, slots=True)
class ScoredMetric:
    """A metric of a table with its counts: cells by status, and pairs that are blind by construction."""

    about: MetricAbout
    counts: Mapping[str, int]
    blind_pairs: int


@dataclass(frozen=True, slots=True)
class ScoresAbout:
    """What ``scores.json`` says: the set that was scored, and every metric in the table's order."""

    set_name: str
    fingerprint: str
    metrics: tuple[ScoredMetric, ...]


def write_scores(
    out: Path,
    challenge_set: ChallengeSet,
    tables: Iterable[tuple[MetricAbout, Iterator[Cell]]],
) -> ScoresAbout:
    """Write the files from one stream of cells a metric, which must be in the table's order.

    ``errors.jsonl`` is written where a metric marks errors. Each file is whole or as it was; the last one
    names the hashes of the others.
    """
    scored = []
    with atomic_file(out / SCORES) as stream, ErrorWriter(out / ERRORS) as errors:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(SCORE_COLUMNS)
        for about, cells in tables:
            counts: Counter[tuple[str, bool]] = Counter()
            writer.writerows(_rows(about, cells, counts, errors))
            by_status: Counter[str] = Counter()
            for (status, _), count in counts.items():
                by_status[status] += count
            blind_pairs = counts["ok", True] // 2
            scored.append(ScoredMetric(about, dict(sorted(by_status.items())), blind_pairs))
    write_json(
        out / ABOUT,
        {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "set": challenge_set.name,
            "fingerprint": challenge_set.fingerprint,
            "metrics": [
                each.about.to_json() | {"counts": each.counts, "blind_pairs": each.blind_pairs}
                for each in scored
            ],
            "files": {
                name: {"sha256": sha256_file(out / name)}
                for name in (SCORES, ERRORS)
                if (out / name).is_file()
            },
        },
    )
    return ScoresAbout(challenge_set.name, challenge_set.fingerprint, tuple(scored))


def _rows(
    about: MetricAbout, cells: Iterable[Cell], counts: Counter[tuple[str, bool]], marked: ErrorWriter
) -> Iterator[tuple[str, ...]]:
    # The columns of SCORE_COLUMNS. A large set has a million rows: no object is made for each.
    blind_reason = f"{BLIND}: {about.name} sees the same text on both sides"
    names = (about.name, about.signature, about.unit)
    for row, side, raw, status, reason, blind, errors, labels in cells:
        counts[status, blind] += 1
        if errors is not None or labels:
            marked.write(about, row, side, errors, labels)
        # repr is the shortest spelling that reads back as the same number.
        numbers = ("", "") if raw is None else (repr(about.oriented(raw)), repr(raw))
        yield (
            *names,
            row.pair,
            side,
            row.item,
            row.system,
            row.doc,
            "",
            *numbers,
            status,
            blind_reason if blind else reason,
        )


def read_about(directory: str | Path) -> ScoresAbout:
    """Read ``scores.json``; ``InputError`` where it is missing, broken or does not fit ``scores.csv``."""
    path = Path(directory) / ABOUT
    if not path.is_file():
        raise InputError(f"no scores here: {ABOUT} is missing", path=directory, hint=_AGAIN)
    value: Any = parse_json(read_text(path, DataReport()), path=path)
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise InputError("not the description of a table of scores", path=path)
    if value.get("format_version") != FORMAT_VERSION:
        raise InputError(
            f"format version {value.get('format_version')}, this release reads {FORMAT_VERSION}", path=path
        )
    try:
        about = ScoresAbout(
            value["set"],
            value["fingerprint"],
            tuple(
                ScoredMetric(MetricAbout.from_json(each), each["counts"], each["blind_pairs"])
                for each in value["metrics"]
            ),
        )
        expected = {name: value["files"][name]["sha256"] for name in {SCORES} | set(value["files"])}
    except (KeyError, TypeError) as error:
        raise InputError(f"a field is missing or of another type: {error}", path=path, hint=_AGAIN) from error
    for name in (SCORES, ERRORS):
        file = path.with_name(name)
        if name in expected and (not file.is_file() or sha256_file(file) != expected[name]):
            raise InputError(f"does not match its hash in {ABOUT}", path=file, hint=_AGAIN)
    return about


def read_scores(directory: str | Path) -> Iterator[Score]:
    """Stream the scores of ``scores.csv``, in the table's order; numbers read back as they were written.

    Raises ``InputError`` with file and line for a row that is no score.
    """
    path = Path(directory) / SCORES
    if not path.is_file():
        raise InputError(f"no scores here: {SCORES} is missing", path=directory, hint=_AGAIN)
    # newline="": a carriage return inside a quoted name is part of it.
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.reader(stream, strict=True)
        try:
            header = next(reader, [])
            if tuple(header) != SCORE_COLUMNS:
                raise InputError(
                    f"the columns are {', '.join(header)}; expected {', '.join(SCORE_COLUMNS)}",
                    path=path,
                    line=1,
                )
            for cells in reader:
                yield _score(cells)
        except InputError:
            raise
        except (ValueError, csv.Error) as error:
            raise InputError(f"not a score: {error}", path=path, line=reader.line_num) from error


def _score(cells: list[str]) -> Score:
    if len(cells) != len(SCORE_COLUMNS):
        raise ValueError(f"{len(cells)} fields, expected {len(SCORE_COLUMNS)}")
    fields: dict[str, Any] = dict(zip(SCORE_COLUMNS, cells, strict=True))
    for name in ("value", "raw"):
        fields[name] = float(fields[name]) if fields[name] else None
    return Score(**fields)
