"""The runner: collect, drop what does not apply, de-duplicate, look up, batch, score, store, tabulate."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from challenge_sets import SIDES, ChallengeSet, Status
from challenge_sets.console import progress
from challenge_sets.files import dump_json
from challenge_sets.parallel import chunked, default_workers, ordered_map
from metrics.base import MetricAbout, Request
from metrics.cells import OWN_REFERENCE, Cells, Column, Kind, why_not
from metrics.jobs import Job, kind_of, plan_jobs
from metrics.scoring import Batch, score_batch, start_scorer, stop_scorer
from metrics.store import STORE, Store
from metrics.tables import Cell, write_scores

# Requests sorted together: equal references end up side by side, and few of them are held at once.
WINDOW = 8192
BATCH = 128
# Below this many pairs starting processes takes longer than scoring.
_SMALL_SET = 1000


@dataclass(slots=True)
class Tally:
    """Where the scores of one metric came from. All but ``characters`` count cells or distinct texts."""

    cells: int = 0
    """Cells that the metric applies to: two a pair."""
    distinct: int = 0
    """Distinct inputs among them; the others are duplicates."""
    from_store: int = 0
    to_score: int = 0
    characters: int = 0
    """Characters of the hypotheses to score."""

    @property
    def duplicates(self) -> int:
        """Cells whose input had been met before."""
        return self.cells - self.distinct


@dataclass(frozen=True, slots=True)
class MetricResult:
    """What became of one metric in one run."""

    about: MetricAbout
    tally: Tally
    counts: dict[str, int]
    """Cells by status; empty in a dry run."""
    blind_pairs: int
    missing: int
    """Cells that should hold a score and do not. Pairs of the pseudo-reference itself should not."""

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        tally = self.tally
        return {
            "metric": self.about.name,
            "signature": self.about.signature,
            "target_lang": self.about.target_lang,
            "sentinel": self.about.sentinel,
            "cells": tally.cells,
            "distinct": tally.distinct,
            "duplicates": tally.duplicates,
            "from_store": tally.from_store,
            "to_score": tally.to_score,
            "characters": tally.characters,
            "counts": self.counts,
            "blind_pairs": self.blind_pairs,
            "missing": self.missing,
        }


def score_set(
    challenge_set: ChallengeSet,
    names: Sequence[str],
    out: str | Path,
    *,
    pseudo_reference: str | None = None,
    workers: int | None = None,
) -> list[MetricResult]:
    """Score both sides of every pair; write ``scores.csv`` and ``scores.json`` into ``out``.

    The table holds everything that this set was ever scored with in ``out``. Only what the store does not
    hold is scored; the result does not depend on ``workers`` (default: all processors, one for a small set).

    Raises ``InputError`` before anything is written where the set or the metrics cannot be used.
    """
    out = Path(out)
    cells = Cells(challenge_set)
    jobs = plan_jobs(challenge_set, cells, names, pseudo_reference)
    if workers is None:
        small = challenge_set.manifest["counts"]["pairs"] < _SMALL_SET
        workers = 1 if small else default_workers()
    store = Store(out / STORE)
    try:
        earlier = [_about(text) for text in store.completed(challenge_set.fingerprint).values()]
        kinds = {job.kind for job in jobs} | {kind_of(about) for about in earlier}
        tallies = [Tally() for _ in jobs]
        batches: Iterator[Batch] = _batches(cells.stream(kinds), jobs, store, tallies)
        done = ordered_map(
            score_batch, batches, workers=workers, initializer=start_scorer, initargs=(jobs, out / STORE)
        )
        for _ in progress(done, what="scoring (batches)"):
            pass
        return _tabulate(challenge_set, cells, jobs, tallies, store, out)
    finally:
        stop_scorer()
        store.close()


def plan_set(
    challenge_set: ChallengeSet,
    names: Sequence[str],
    out: str | Path,
    *,
    pseudo_reference: str | None = None,
) -> list[MetricResult]:
    """What ``score_set`` would do, without doing any of it; nothing is written, ``out`` need not exist."""
    cells = Cells(challenge_set)
    jobs = plan_jobs(challenge_set, cells, names, pseudo_reference)
    path = Path(out) / STORE
    store = Store(path, read_only=True) if path.is_file() else None
    try:
        tallies = [Tally() for _ in jobs]
        for _ in _batches(cells.stream({job.kind for job in jobs}), jobs, store, tallies):
            pass
    finally:
        if store is not None:
            store.close()
    _count_cells(cells, jobs, tallies)
    return [MetricResult(job.about, tally, {}, 0, 0) for job, tally in zip(jobs, tallies, strict=True)]


def _batches(
    stream: Iterable[tuple[Kind, bytes, Request]],
    jobs: Sequence[Job],
    store: Store | None,
    tallies: Sequence[Tally],
) -> Iterator[Batch]:
    """Cut the distinct inputs into batches of what the store does not hold, and count."""
    takers: dict[Kind, list[int]] = {}
    for number, job in enumerate(jobs):
        takers.setdefault(job.kind, []).append(number)
    windows: dict[Kind, dict[bytes, Request]] = {kind: {} for kind in takers}

    def empty(kind: Kind) -> Iterator[Batch]:
        window = windows[kind]
        lacking: dict[bytes, list[int]] = {key: [] for key in window}
        for number in takers[kind]:
            known = store.known(jobs[number].about.signature, list(window)) if store else set()
            tallies[number].from_store += len(known)
            tallies[number].to_score += len(window) - len(known)
            for key, request in window.items():
                if key not in known:
                    tallies[number].characters += len(request.hypothesis)
                    lacking[key].append(number)
        # A text goes to a process once for all the metrics that still need it.
        groups: dict[tuple[int, ...], list[bytes]] = {}
        for key, without in lacking.items():
            if without:
                groups.setdefault(tuple(without), []).append(key)
        for numbers, keys in groups.items():
            for part in chunked(sorted(keys, key=lambda key: _nearness(window[key])), BATCH):
                yield Batch(numbers, tuple(part), tuple(window[key] for key in part))
        window.clear()

    for kind, key, request in stream:
        if kind in windows:
            windows[kind][key] = request
            if len(windows[kind]) >= WINDOW:
                yield from empty(kind)
    for kind in windows:
        yield from empty(kind)


def _nearness(request: Request) -> tuple[int, str]:
    """Sorts by length, texts with the same reference (or source) side by side, a text before its variants."""
    anchor = request.reference or request.source or request.hypothesis
    return len(anchor), anchor


def _count_cells(cells: Cells, jobs: Sequence[Job], tallies: Sequence[Tally]) -> None:
    for job, tally in zip(jobs, tallies, strict=True):
        column = cells.columns[job.kind]
        tally.cells = column.applicable
        tally.distinct = len(column.numbers)


def _tabulate(
    challenge_set: ChallengeSet,
    cells: Cells,
    jobs: Sequence[Job],
    tallies: Sequence[Tally],
    store: Store,
    out: Path,
) -> list[MetricResult]:
    _count_cells(cells, jobs, tallies)
    challenge_set.check_unchanged()
    # Whoever writes the table last has seen all that came before: two runs at once end with one table.
    with store.exclusive():
        store.complete(
            challenge_set.fingerprint,
            {job.about.signature: dump_json(job.about.to_json()) for job in jobs},
        )
        abouts = [_about(text) for text in store.completed(challenge_set.fingerprint).values()]
        # The same order whatever was scored first, sentinels last.
        abouts.sort(key=lambda a: (a.sentinel, a.name, a.pseudo_reference or "", a.target_lang, a.signature))
        unread = {kind_of(about) for about in abouts} - cells.columns.keys()
        if unread:
            for _ in cells.stream(unread):
                pass
        tables = ((about, _cells(about, cells, store)) for about in abouts)
        written = write_scores(out, challenge_set, tables)
    by_signature = {each.about.signature: each for each in written.metrics}
    results = []
    for job, tally in zip(jobs, tallies, strict=True):
        each = by_signature[job.about.signature]
        own = 2 * cells.columns[job.kind].original.count(OWN_REFERENCE)
        missing = sum(each.counts.values()) - each.counts.get("ok", 0) - own
        results.append(MetricResult(job.about, tally, dict(each.counts), each.blind_pairs, missing))
    return results


def _about(text: str) -> MetricAbout:
    return MetricAbout.from_json(json.loads(text))


class _Answers:
    """The answers of one metric, by the number of the input."""

    def __init__(self, signature: str, column: Column, store: Store) -> None:
        keys = list(column.numbers)
        self.raw = array("d", bytes(8 * len(keys)))
        self.view = array("q", bytes(8 * len(keys)))
        self.final = bytearray(len(keys))
        for key, raw, view in store.answers(signature, keys):
            number = column.numbers[key]
            self.raw[number], self.view[number], self.final[number] = raw, view, 1
        lacking = [key for key, final in zip(keys, self.final, strict=True) if not final]
        self.failures: dict[int, tuple[Status, str]] = {
            column.numbers[key]: (status, reason)
            for key, status, reason in store.failures(signature, lacking)
        }


def _cells(about: MetricAbout, cells: Cells, store: Store) -> Iterator[Cell]:
    """The table of one metric: both sides of each pair of its language, in the set's order."""
    kind = kind_of(about)
    column = cells.columns[kind]
    answers = _Answers(about.signature, column, store)
    raw, view, final = answers.raw, answers.view, answers.final
    rows = cells.rows.get(about.target_lang, [])
    for row, original, perturbed in zip(rows, column.original, column.perturbed, strict=True):
        if original < 0:
            for side in SIDES:
                yield row, side, None, "not_applicable", why_not(original, kind), False
            continue
        both = final[original] and final[perturbed]
        blind = bool(both and original != perturbed and view[original] == view[perturbed])
        for side, number in zip(SIDES, (original, perturbed), strict=True):
            if final[number]:
                yield row, side, raw[number], "ok", "", blind
            else:
                status, reason = answers.failures.get(number, ("failed", "it was never scored"))
                yield row, side, None, status, reason, False
