"""Scoring batches, in this process or in several, each answer written through to the store at once."""

from __future__ import annotations

import gc
import multiprocessing
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from challenge_sets import InputError
from metrics.base import Metric
from metrics.jobs import Job
from metrics.keys import view_key
from metrics.requests import Answer, Request
from metrics.store import Row, Store


@dataclass(frozen=True, slots=True)
class Batch:
    """Requests with their keys, and the numbers of the jobs that all of them are scored by."""

    jobs: tuple[int, ...]
    keys: tuple[bytes, ...]
    requests: tuple[Request, ...]

    def __reduce__(self) -> tuple[type[Batch], tuple[object, ...]]:
        return Batch, (self.jobs, self.keys, self.requests)


class Seats:
    """Hands out the devices of a run, each to one process."""

    def __init__(self, devices: Sequence[str]) -> None:
        self._devices = tuple(devices)
        # Of the context that the processes are started from, or they could not take it over.
        self._taken = multiprocessing.get_context("spawn").Value("i", 0)

    def take(self) -> str | None:
        """The next device; ``None`` where the run has none of its own."""
        if not self._devices:
            return None
        with self._taken.get_lock():
            mine = self._taken.value
            self._taken.value += 1
        return self._devices[mine % len(self._devices)]


class Scorer:
    """The metric objects of one process and its connection to the store."""

    def __init__(self, jobs: Sequence[Job], store: Path, seats: Seats) -> None:
        device = seats.take()
        self._metrics = [job.make(device) for job in jobs]
        self._signatures = [job.about.signature for job in jobs]
        self._store = Store(store)

    def score(self, batch: Batch) -> int:
        """Score a batch, writing the answers to the store as they come; return the number of requests."""
        for job in batch.jobs:
            metric, signature = self._metrics[job], self._signatures[job]
            for answers in answer_in_turn(metric, batch.requests):
                rows: list[Row] = [
                    (batch.keys[place], answer, _view(metric, batch.requests[place], answer))
                    for place, answer in answers.items()
                ]
                self._store.write({signature: rows})
        return len(batch.requests)

    def close(self) -> None:
        """Give the models back and close the connection to the store."""
        for metric in self._metrics:
            metric.close()
        self._store.close()


def _view(metric: Metric, request: Request, answer: Answer) -> int:
    return view_key(metric.view(request)) if answer.status == "ok" else 0


def answer_in_turn(metric: Metric, requests: Sequence[Request]) -> Iterator[dict[int, Answer]]:
    """Answers by the place of their request, as they become final, one for each request.

    Where the metric raises, each request that is left is asked alone and the culprit is ``failed``. An
    ``InputError`` ends the run: it says what the user has to mend.
    """
    left = dict.fromkeys(range(len(requests)))
    problem = ""
    try:
        for answers in metric.score_in_turn(requests):
            for place in answers:
                del left[place]
            yield answers
        if left:
            raise ValueError(f"{len(requests) - len(left)} answers to {len(requests)} requests")
    except (InputError, sqlite3.Error):
        raise
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    # Outside the handler: the traceback would keep alive what the metric held.
    if problem and len(requests) == 1:
        yield {0: Answer(None, "failed", problem)}
        return
    for place in left if problem else ():
        for alone in answer_in_turn(metric, [requests[place]]):
            yield {place: alone[0]}


_scorer: Scorer | None = None


def start_scorer(jobs: Sequence[Job], store: Path, seats: Seats) -> None:
    """Set up this process for ``score_batch``."""
    global _scorer  # noqa: PLW0603 -- a worker process has no other place to keep what its tasks share
    if multiprocessing.parent_process() is not None:
        # Counting n-grams makes no cycles, but objects enough to set the collector off all the time.
        gc.freeze()
        gc.set_threshold(100_000)
    _scorer = Scorer(jobs, store, seats)


def stop_scorer() -> None:
    """Close what ``start_scorer`` opened in this process, if it did."""
    global _scorer  # noqa: PLW0603
    if _scorer is not None:
        _scorer.close()
        _scorer = None


def score_batch(batch: Batch) -> int:
    """Score a batch with what ``start_scorer`` set up; return the number of requests."""
    if _scorer is None:
        raise RuntimeError("start_scorer comes first")
    return _scorer.score(batch)
