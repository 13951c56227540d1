"""The runner: collect, drop what does not apply, de-duplicate, look up, batch, score, store, tabulate."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from challenge_sets import ChallengeSet, InputError
from challenge_sets.console import progress
from challenge_sets.files import dump_json
from challenge_sets.parallel import chunked, default_workers, ordered_map
from metrics.base import Account, Metric, MetricAbout
from metrics.cells import OWN_REFERENCE, Cells, Kind
from metrics.jobs import Job, kind_of, plan_jobs
from metrics.judges.options import JudgeOptions
from metrics.llm.prices import Bill
from metrics.registry import METRICS
from metrics.requests import ModelOptions, Request
from metrics.rows import Answers
from metrics.scoring import Batch, Seats, score_batch, start_scorer, stop_scorer
from metrics.store import STORE, Store
from metrics.tables import Cell, write_scores

# Requests sorted together: equal references end up side by side, and few of them are held at once.
WINDOW = 8192
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
    screened: int = 0
    """Texts to score that will get no score, such as those beyond the limit; counted before scoring."""
    forecast: Bill | None = None
    """What asking for the scores would take, for a metric that asks others; only in a dry run."""

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
    unknown_tokens: int = 0
    """Tokens of the scored texts that the model's vocabulary does not hold, each distinct input once."""
    account: Account | None = None
    """What the metric asked of others in this run; ``None`` in a dry run, and for a metric that computes."""

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
            "screened": tally.screened,
            "unknown_tokens": self.unknown_tokens,
            "counts": self.counts,
            "blind_pairs": self.blind_pairs,
            "missing": self.missing,
            "forecast": None if tally.forecast is None else tally.forecast.to_json(),
            **(self.account.to_json() if self.account else {"bill": None, "hazards": {}, "models": {}}),
        }


def score_set(
    challenge_set: ChallengeSet,
    names: Sequence[str],
    out: str | Path,
    *,
    pseudo_reference: str | None = None,
    workers: int | None = None,
    model: ModelOptions | None = None,
    judge: JudgeOptions | None = None,
) -> list[MetricResult]:
    """Score both sides of every pair; write ``scores.csv`` and ``scores.json`` into ``out``.

    The table holds everything that this set was ever scored with in ``out``. Only what the store does not
    hold is scored; the result does not depend on ``workers`` (default: all processors, one for a small set).
    Metrics with a model run one model after the other, in one process a device; ``judge`` says which model
    judges ask.

    Raises ``InputError`` before anything is written where the set or the metrics cannot be used.
    """
    out = Path(out)
    cells = Cells(challenge_set)
    jobs = plan_jobs(challenge_set, cells, names, pseudo_reference, model or ModelOptions(), judge)
    if workers is None:
        small = challenge_set.manifest["counts"]["pairs"] < _SMALL_SET
        workers = 1 if small else default_workers()
    tallies = [Tally() for _ in jobs]
    _refuse_overlong(cells, jobs)
    store = Store(out / STORE)
    try:
        earlier = {kind_of(_about(text)) for text in store.completed(challenge_set.fingerprint).values()}
        for numbers in _phases(jobs):
            kinds = {jobs[number].kind for number in numbers}
            # The first pass over the texts also finds what the table will need of earlier metrics.
            stream = cells.stream(kinds | (earlier - cells.columns.keys()))
            _score_phase(stream, jobs, numbers, store, tallies, workers)
        return _tabulate(challenge_set, cells, jobs, tallies, store, out)
    finally:
        store.close()


def _phases(jobs: Sequence[Job]) -> list[list[int]]:
    """Numbers of the jobs that run side by side: those without a model first, then one model at a time."""
    phases: dict[tuple[str, int], list[int]] = {}
    for number, job in enumerate(jobs):
        phases.setdefault((job.model_key, job.batch), []).append(number)
    return [phases[key] for key in sorted(phases, key=lambda key: (key[0] != "", phases[key]))]


def _score_phase(
    stream: Iterable[tuple[Kind, bytes, Request]],
    jobs: Sequence[Job],
    numbers: Sequence[int],
    store: Store,
    tallies: Sequence[Tally],
    workers: int,
) -> None:
    here = [jobs[number] for number in numbers]
    devices = here[0].devices
    done = ordered_map(
        score_batch,
        lacking_batches(stream, here, store, [tallies[number] for number in numbers]),
        workers=len(devices) or workers,
        initializer=start_scorer,
        initargs=(here, store.path, Seats(devices)),
    )
    what = "scoring" if not devices else f"scoring, {', '.join(dict.fromkeys(job.name for job in here))}"
    try:
        for _ in progress(done, what=f"{what} (batches)"):
            pass
    finally:
        stop_scorer()


def _refuse_overlong(cells: Cells, jobs: Sequence[Job]) -> None:
    """Raise ``InputError`` where a text beyond a limit is to be an error, before anything is scored."""
    strict = [job for job in jobs if job.devices and job.settings.model.overlong == "error"]
    for job in strict:
        metric = job.make()
        stream = (request for _, _, request in cells.stream({job.kind}))
        for part in chunked(stream, job.batch):
            for request, answer in zip(part, metric.screen(part), strict=True):
                if answer is not None and answer.status == "truncated":
                    text = request.hypothesis or " ".join(each.hypothesis for each in request.document)
                    raise InputError(
                        f"{job.name}: a text is too long: {answer.reason}; it begins '{text[:60]}'",
                        hint="leave such texts out with --overlong exclude, or score them in pieces with "
                        "--overlong window",
                    )


def plan_set(
    challenge_set: ChallengeSet,
    names: Sequence[str],
    out: str | Path,
    *,
    pseudo_reference: str | None = None,
    model: ModelOptions | None = None,
    judge: JudgeOptions | None = None,
) -> list[MetricResult]:
    """What ``score_set`` would do, without doing any of it; nothing is written, ``out`` need not exist."""
    cells = Cells(challenge_set)
    jobs = plan_jobs(challenge_set, cells, names, pseudo_reference, model or ModelOptions(), judge)
    path = Path(out) / STORE
    store = Store(path, read_only=True) if path.is_file() else None
    metrics = [job.make() for job in jobs]
    try:
        tallies = [Tally() for _ in jobs]
        for batch in lacking_batches(cells.stream({job.kind for job in jobs}), jobs, store, tallies):
            for number in batch.jobs:
                answers = metrics[number].screen(batch.requests)
                tallies[number].screened += sum(answer is not None for answer in answers)
                _add_forecast(tallies[number], metrics[number], batch.requests)
    finally:
        if store is not None:
            store.close()
        for metric in metrics:
            metric.close()
    _count_cells(cells, jobs, tallies)
    return [MetricResult(job.about, tally, {}, 0, 0) for job, tally in zip(jobs, tallies, strict=True)]


def lacking_batches(
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
                    tallies[number].characters += _characters(request)
                    lacking[key].append(number)
        # A text goes to a process once for all the metrics that still need it.
        groups: dict[tuple[int, ...], list[bytes]] = {}
        for key, without in lacking.items():
            if without:
                groups.setdefault(tuple(without), []).append(key)
        for numbers, keys in groups.items():
            size = min(jobs[number].batch for number in numbers)
            for part in chunked(sorted(keys, key=lambda key: _nearness(window[key])), size):
                yield Batch(numbers, tuple(part), tuple(window[key] for key in part))
        window.clear()

    for kind, key, request in stream:
        if kind in windows:
            windows[kind][key] = request
            if len(windows[kind]) >= WINDOW:
                yield from empty(kind)
    for kind in windows:
        yield from empty(kind)


def _characters(request: Request) -> int:
    return len(request.hypothesis) or sum(len(segment.hypothesis) for segment in request.document)


def _nearness(request: Request) -> tuple[int, str]:
    """Sorts by length, texts with the same reference (or source) side by side, a text before its variants."""
    anchor = request.reference or request.source or request.hypothesis
    return len(anchor) or _characters(request), anchor


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
        unknown_tokens: dict[str, int] = {}

        def tables() -> Iterator[tuple[MetricAbout, Iterator[Cell]]]:
            # One metric's answers are held at a time.
            for about in abouts:
                kind = kind_of(about)
                answers = Answers(about, kind, cells.columns[kind], store)
                unknown_tokens[about.signature] = answers.unknown_tokens
                yield about, answers.cells(cells)

        written = write_scores(out, challenge_set, tables())
    by_signature = {each.about.signature: each for each in written.metrics}
    results = []
    for job, tally in zip(jobs, tallies, strict=True):
        each = by_signature[job.about.signature]
        own = 2 * cells.columns[job.kind].original.count(OWN_REFERENCE)
        missing = sum(each.counts.values()) - each.counts.get("ok", 0) - own
        unknown = unknown_tokens[job.about.signature]
        account = _account(job)
        counts = dict(each.counts)
        results.append(MetricResult(job.about, tally, counts, each.blind_pairs, missing, unknown, account))
    return results


def _add_forecast(tally: Tally, metric: Metric, requests: Sequence[Request]) -> None:
    forecast = metric.forecast(requests)
    if forecast is not None:
        tally.forecast = forecast if tally.forecast is None else tally.forecast + forecast


def _account(job: Job) -> Account | None:
    if not METRICS[job.name].remote:
        return None
    metric = job.make()
    try:
        return metric.account()
    finally:
        metric.close()


def _about(text: str) -> MetricAbout:
    return MetricAbout.from_json(json.loads(text))
