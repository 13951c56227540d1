"""What tests of batches ask for, and what they let other processes do."""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from metrics.llm import batch_sending, waits
from metrics.llm.batch_api import BatchApi
from metrics.llm.batch_collecting import collect, refresh
from metrics.llm.batch_log import BatchLog
from metrics.llm.batch_records import BATCH_FOLDER, BatchLimits, Collected
from metrics.llm.batches import submit
from metrics.llm.calls import Call
from metrics.llm.log import CALLS
from metrics.llm.options import LlmOptions

STEPS = (
    (BatchLog, ("begin", "enlist", "step", "move", "abandon", "observe", "settle", "settle_rest")),
    (BatchLog, ("close_batch", "take")),
    (BatchApi, ("upload", "create", "batch", "download")),
)


def make_calls(url: str, count: int, prefix: str = "") -> Iterator[Call]:
    for number in range(count):
        yield Call(
            url.lower(),
            "m-1",
            ({"role": "user", "content": f"Rate ```{prefix}wort{number}```\u2028 - 한국어."},),
            {"temperature": 0.0, "max_tokens": 50},
            purpose="judge|x",
            subject=f"{prefix}item {number}",
        )


def hurry() -> None:
    """Wait as little as can be, and keep quiet: a process that is killed leaves the locks of a bar behind."""
    waits.FIRST_WAIT = 0.001
    batch_sending.LAG = 0.0
    batch_sending.notice = lambda text: None


def submit_there(
    url: str, out: Path, count: int, prefix: str = "", limits: BatchLimits | None = None
) -> None:
    hurry()
    log = BatchLog(out / CALLS)
    options = LlmOptions("m-1", url, timeout=10)
    submit(make_calls(url, count, prefix), options, log, out / BATCH_FOLDER, limits)
    log.close()


def collect_there(out: Path) -> list[Collected]:
    hurry()
    log = BatchLog(out / CALLS)
    try:
        refresh(log, out / BATCH_FOLDER)
        return collect(log, out / BATCH_FOLDER)
    finally:
        log.close()


def die_at(step: int, work: Callable[..., object], *args: Any) -> None:
    """Kill this process before or after its ``step``-th step, counted from 0; else do the work."""
    taken = 0

    def passing() -> None:
        nonlocal taken
        if taken == step:
            os.kill(os.getpid(), signal.SIGKILL)
        taken += 1

    def watched(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def around(*args: Any, **named: Any) -> Any:
            passing()
            found = method(*args, **named)
            passing()
            return found

        return around

    for owner, names in STEPS:
        for name in names:
            setattr(owner, name, watched(getattr(owner, name)))
    work(*args)


def memory_of_submissions(url: str, out: Path, counts: tuple[int, ...], report: Path) -> None:
    """Write the highest memory of this process, in bytes, after submissions of so many calls each."""
    unit = 1 if sys.platform == "darwin" else 1024
    peaks = []
    for count in counts:
        submit_there(url, out, count, f"{count} ")
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
    report.write_text(json.dumps(peaks))


def start(work: Callable[..., object], *args: Any) -> BaseProcess:
    """Another process; it is ready at once, as the imports were made for all of them."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["openai", "batch_children"])
    process = context.Process(target=work, args=args, daemon=True)
    process.start()
    return process
