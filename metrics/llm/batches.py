"""Asking in batches: submitted, looked after and collected in steps that may lie days apart.

Every step stands in the log before it is taken and after it was. A process that is killed in between leaves a
batch on its way: the next one looks whether the endpoint has it, and else frees its calls.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from challenge_sets import InputError
from challenge_sets.files import make_directory
from metrics.llm.batch_api import BatchApi
from metrics.llm.batch_files import RequestFile, request_line
from metrics.llm.batch_log import BatchLog
from metrics.llm.batch_records import Batch, BatchLimits, Terms
from metrics.llm.batch_sending import Sender, recover
from metrics.llm.budget import Budget
from metrics.llm.calls import Call, Reply
from metrics.llm.options import LlmOptions
from metrics.llm.prices import highest_usage

# Calls that are looked up in the log and let wait in one go; so many are held.
_AT_ONCE = 200

T = TypeVar("T")


def submit(
    calls: Iterable[Call],
    options: LlmOptions,
    log: BatchLog,
    folder: Path,
    limits: BatchLimits | None = None,
    budget: Budget | None = None,
) -> list[Batch]:
    """Give calls to the endpoint in as many batches as their number takes; a few hundred are held at a time.

    Left out is what is answered, waits in a batch or is being asked elsewhere; of equal calls one is sent.
    The request files go into ``folder`` and stay there until their batch is collected. Where the endpoint
    takes smaller files only, they are halved. Gives the batches that were made.

    Raises ``InputError`` where the endpoint has no batches, refuses, or cannot be reached, and
    ``OverBudgetError`` where the next batch could pass the limit of ``budget`` (else one of its own), at
    the most that its calls can cost. What was submitted by then is charged to the budget at that most and
    stays submitted, everything else is free.
    """
    terms = Terms.of(options)
    make_directory(folder)
    with BatchApi(options) as api:
        api.check()
        for batch in log.batches(unfinished=True):
            # With another key the endpoint would not show it, and it would be taken for lost.
            there = batch.terms.options
            if (there.endpoint, there.key_name) == (options.endpoint, options.key_name):
                recover(batch, log, folder, api)
        sender = Sender(api, log, terms, folder, limits or BatchLimits())
        _Submission(sender, log, terms, budget or Budget(options)).run(calls)
        return [log.batch(number) for number in sender.made]


class OverBudgetError(InputError):
    """Going on could cost more than the limit."""


class _Submission:
    """Calls on their way into files: one file at a time."""

    def __init__(self, sender: Sender, log: BatchLog, terms: Terms, budget: Budget) -> None:
        self._sender = sender
        self._log = log
        self._terms = terms
        self._budget = budget
        self._file: RequestFile | None = None
        self._number = 0
        self._highest = 0.0
        self._longest = sender.limits.bytes

    def run(self, calls: Iterable[Call]) -> None:
        """Write, and send what is full."""
        try:
            for chunk in _chunks(calls, _AT_ONCE):
                free = self._log.free([call.key for call in chunk])
                self._write(list(self._lines(call for call in chunk if call.key in free)))
            self._send()
        except BaseException:
            if self._file is not None:
                self._file.close()
                self._sender.abandon(self._number, "the run ended before it was submitted")
            raise

    def _lines(self, calls: Iterable[Call]) -> Iterator[tuple[Call, bytes]]:
        for call in calls:
            try:
                line = request_line(call)
            except UnicodeEncodeError as error:
                self._fail(call, f"a text cannot be sent: {error.reason}")
                continue
            if len(line) > self._longest:
                self._fail(call, f"too long for any batch: the request has {len(line)} bytes")
                continue
            yield call, line

    def _fail(self, call: Call, reason: str) -> None:
        self._log.record(call, Reply("failed", reason=reason, attempts=0))

    def _write(self, lines: list[tuple[Call, bytes]]) -> None:
        while lines:
            if self._file is None:
                self._number, self._file = self._sender.begin()
            limits = self._sender.limits
            room = max(0, limits.requests - self._file.requests)
            sizes = itertools.accumulate(len(line) for _, line in lines[:room])
            fitting = sum(size <= limits.bytes - self._file.size for size in sizes)
            if not fitting and self._file.requests:
                self._send()
                continue
            # The limits may have been learnt; whatever they are, one request is tried.
            fitting = max(1, fitting)
            taken = self._log.enlist(self._number, [call for call, _ in lines[:fitting]])
            # Of two calls with one key the first is the one that waits.
            kept = [(call, line) for call, line in _first_of_each(lines[:fitting]) if call.key in taken]
            self._file.write(line for _, line in kept)
            self._afford(call for call, _ in kept)
            lines = lines[fitting:]

    def _afford(self, calls: Iterable[Call]) -> None:
        self._highest += sum(self._terms.cost(highest_usage(call)) or 0.0 for call in calls)
        if not self._budget.fits(self._highest):
            assert self._file is not None
            before = sum(self._log.batch(number).requests for number in self._sender.made)
            stays = f"{before} calls were submitted before" if before else "nothing was submitted"
            could = self._budget.spent + self._highest
            raise OverBudgetError(
                f"{before + self._file.requests} calls could cost {could:.2f} "
                f"{self._terms.currency} or more, the limit is {self._budget.limit:g}: {stays}",
                hint="counted is the most that each can cost; raise --max-cost, lower --max-tokens, or ask "
                "fewer calls",
            )

    def _send(self) -> None:
        if self._file is None:
            return
        file, self._file = self._file, None
        file.close()
        if file.requests:
            self._sender.send(self._number)
            self._budget.charge(self._highest)
            self._highest = 0.0
        else:
            self._sender.abandon(self._number, "other processes had taken its calls")


def _first_of_each(lines: list[tuple[Call, bytes]]) -> list[tuple[Call, bytes]]:
    first: dict[bytes, tuple[Call, bytes]] = {}
    for call, line in lines:
        first.setdefault(call.key, (call, line))
    return list(first.values())


def _chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    stream = iter(items)
    while chunk := list(itertools.islice(stream, size)):
        yield chunk
