"""Judging a set in batches: submit what is lacking, wait, collect, submit once more what failed."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from challenge_sets import ChallengeSet, InputError
from challenge_sets.console import notice
from metrics.cells import Cells
from metrics.jobs import plan_jobs
from metrics.judges.judge import Judge
from metrics.judges.options import JudgeOptions
from metrics.llm.batch_collecting import collect
from metrics.llm.batch_log import BatchLog
from metrics.llm.batch_records import BATCH_FOLDER, Batch, Collected
from metrics.llm.batches import OverBudgetError, submit
from metrics.llm.calls import Call
from metrics.llm.prices import Bill
from metrics.registry import METRICS
from metrics.requests import ModelOptions
from metrics.runner import Tally, lacking_batches
from metrics.store import STORE, Store

# Seconds between two looks at the batches: soon at first, as a small one can be done at once.
_FIRST_LOOK, _LONGEST_LOOK = 2.0, 60.0
# So many looks in a row that an endpoint did not allow.
_TROUBLED = 10


def submit_set(
    challenge_set: ChallengeSet,
    names: Sequence[str],
    out: Path,
    judge: JudgeOptions,
    *,
    pseudo_reference: str | None = None,
    since: float = math.inf,
) -> list[Batch]:
    """Submit every call that the judges ``names`` still need for a set; nothing waits for the answers.

    Left out are those that the model cut off or refused ``since`` a moment, in seconds since 1970. Raises
    ``InputError`` for a metric that is no judge, and whatever ``submit`` raises.
    """
    others = [name for name in names if not METRICS[name].remote]
    if others:
        raise InputError(
            f"{', '.join(others)}: computed here, not asked; batches are for judges",
            hint="score it with python -m metrics score",
        )
    log = BatchLog(judge.log)
    try:
        calls = _outstanding(challenge_set, names, out, judge, pseudo_reference)
        # Asking the same again at once would only fish for a better answer.
        fresh = (call for call in calls if not log.cut_short(call.key, since))
        return submit(fresh, judge.llm, log, out / BATCH_FOLDER, budget=judge.budget)
    finally:
        log.close()


def _outstanding(
    challenge_set: ChallengeSet,
    names: Sequence[str],
    out: Path,
    judge: JudgeOptions,
    pseudo_reference: str | None,
) -> Iterator[Call]:
    cells = Cells(challenge_set)
    jobs = plan_jobs(challenge_set, cells, names, pseudo_reference, ModelOptions(), judge)
    path = out / STORE
    store = Store(path, read_only=True) if path.is_file() else None
    judges = [made for made in (job.make() for job in jobs) if isinstance(made, Judge)]
    try:
        stream = cells.stream({job.kind for job in jobs})
        for batch in lacking_batches(stream, jobs, store, [Tally() for _ in jobs]):
            for number in batch.jobs:
                yield from judges[number].outstanding(batch.requests)
    finally:
        for made in judges:
            made.close()
        if store is not None:
            store.close()


def answer_in_batches(
    challenge_set: ChallengeSet,
    names: Sequence[str],
    out: Path,
    judge: JudgeOptions,
    *,
    pseudo_reference: str | None = None,
) -> None:
    """Submit, wait and collect, and submit again what nobody answered, for as long as that brings answers.

    Batches that an earlier run submitted are waited for, too. A judge of several steps has its later calls
    only when the earlier ones are answered.
    """
    budget, began, first = judge.budget, time.time(), True
    while True:
        before = budget.spent
        try:
            submitted = submit_set(
                challenge_set, names, out, judge, pseudo_reference=pseudo_reference, since=began
            )
        except OverBudgetError as error:
            if first:
                raise
            notice(str(error))
            return
        first = False
        for batch in submitted:
            notice(f"submitted {batch.requests} calls as {batch.remote}")
        highest = budget.spent - before
        collected = _await_all(judge.log, out)
        ours = {batch.number for batch in submitted}
        bill = sum((each.bill for each in collected if each.batch.number in ours), Bill())
        if not bill.unpriced:
            budget.charge(bill.cost - highest)
        if not any(each.answered for each in collected):
            return


def _await_all(path: Path, out: Path) -> list[Collected]:
    """Collect every batch of the log, waiting for those that are not done."""
    log = BatchLog(path)
    pause, troubled = _FIRST_LOOK, 0
    done: list[Collected] = []
    try:
        while log.batches(unfinished=True):
            trouble = ""
            for collected in collect(log, out / BATCH_FOLDER):
                trouble = collected.trouble or trouble
                if not collected.trouble:
                    notice(f"collected {collected.answered} answers of {collected.batch.remote}")
                    done.append(collected)
            troubled = troubled + 1 if trouble else 0
            if troubled >= _TROUBLED:
                raise InputError(
                    f"the batches cannot be asked about: {trouble}",
                    hint="they go on at the endpoint; run the same command again later",
                )
            if log.batches(unfinished=True):
                time.sleep(pause)
                pause = min(_LONGEST_LOOK, 2 * pause)
    except KeyboardInterrupt:
        notice("the batches go on; run the same command again to wait for them")
        raise
    finally:
        log.close()
    return done
