"""An ordered map over processes that holds only a few chunks at a time."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")


def default_workers() -> int:
    """Processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def chunked(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Cut a stream into lists of ``size``; the last may be shorter."""
    stream = iter(items)
    while chunk := list(islice(stream, size)):
        yield chunk


def ordered_map(
    function: Callable[[T], R],
    chunks: Iterable[T],
    *,
    workers: int,
    initializer: Callable[..., object] | None = None,
    initargs: tuple[Any, ...] = (),
) -> Iterator[R]:
    """Yield ``function(chunk)`` for every chunk, in order, from ``workers`` processes.

    Results do not depend on ``workers``; with one, everything runs in this process. Memory is flat: at
    most two chunks a worker are under way. ``function`` and ``initializer`` must be picklable.
    """
    if workers <= 1:
        if initializer is not None:
            initializer(*initargs)
        yield from map(function, chunks)
        return
    # spawn, not fork: the parent may hold threads (progress bars) and open databases.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, _start_worker, (initializer, initargs)) as pool:
        # A pool starts one process a task: with these all start while the first chunks are being read.
        for _ in range(workers):
            pool.submit(_nothing)
        waiting: deque[Future[R]] = deque()
        try:
            for chunk in chunks:
                waiting.append(pool.submit(function, chunk))
                if len(waiting) >= 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _start_worker(initializer: Callable[..., object] | None, initargs: tuple[Any, ...]) -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        # A worker whose parent was killed would wait for its next task for ever.
        threading.Thread(target=_leave_after, args=(parent,), daemon=True).start()
    if initializer is not None:
        initializer(*initargs)


def _leave_after(process: BaseProcess) -> None:
    process.join()
    os._exit(1)


def _nothing() -> None:
    """A task that only starts a process."""
