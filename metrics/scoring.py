"""Scoring batches, in this process or in several, each answer written through to the store at once."""

from __future__ import annotations

import gc
import multiprocessing
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from challenge_sets import InputError
from metrics.base import Answer, Metric, Request, view_key
from metrics.jobs import Job
from metrics.store import Row, Store


@dataclass(frozen=True, slots=True)
class Batch:
    """Requests with their keys, and the numbers of the jobs that all of them are scored by."""

    jobs: tuple[int, ...]
    keys: tuple[bytes, ...]
    requests: tuple[Request, ...]

    def __reduce__(self) -> tuple[type[Batch], tuple[object, ...]]:
        return Batch, (self.jobs, self.keys, self.requests)


class Scorer:
    """The metric objects of one process and its connection to the store."""

    def __init__(self, jobs: Sequence[Job], store: Path) -> None:
        self._metrics = [job.make() for job in jobs]
        self._signatures = [job.about.signature for job in jobs]
        self._store = Store(store)

    def score(self, batch: Batch) -> int:
        """Score a batch and write it to the store in one transaction; return the number of requests."""
        self._store.write(
            {self._signatures[job]: self._rows(self._metrics[job], batch) for job in batch.jobs}
        )
        return len(batch.requests)

    def _rows(self, metric: Metric, batch: Batch) -> list[Row]:
        answers = answer_all(metric, batch.requests)
        return [
            (key, answer, view_key(metric.view(request)) if answer.status == "ok" else 0)
            for key, request, answer in zip(batch.keys, batch.requests, answers, strict=True)
        ]

    def close(self) -> None:
        """Close the connection to the store."""
        self._store.close()


def answer_all(metric: Metric, requests: Sequence[Request]) -> list[Answer]:
    """One answer a request. Where the metric raises, each is asked alone and the culprit is ``failed``.

    An ``InputError`` ends the run: it says what the user has to mend.
    """
    try:
        answers = metric.score(requests)
        if len(answers) != len(requests):
            raise ValueError(f"{len(answers)} answers to {len(requests)} requests")
        return answers
    except InputError:
        raise
    except Exception as error:
        if len(requests) == 1:
            return [Answer(None, "failed", f"{type(error).__name__}: {error}")]
        return [answer_all(metric, [request])[0] for request in requests]


_scorer: Scorer | None = None


def start_scorer(jobs: Sequence[Job], store: Path) -> None:
    """Set up this process for ``score_batch``."""
    global _scorer  # noqa: PLW0603 -- a worker process has no other place to keep what its tasks share
    if multiprocessing.parent_process() is not None:
        # Counting n-grams makes no cycles, but objects enough to set the collector off all the time.
        gc.freeze()
        gc.set_threshold(100_000)
    _scorer = Scorer(jobs, store)


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
