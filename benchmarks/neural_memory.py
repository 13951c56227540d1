"""Memory of a process that scores many texts with a small MetricX, batch by batch as the runner does."""

from __future__ import annotations

import re
import resource
import sys
import time
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from neural_models import rows

from challenge_sets.parallel import chunked
from metrics import METRICS
from metrics.requests import ModelOptions, Request, Settings
from metrics.scoring import answer_in_turn


class Growth(NamedTuple):
    """Megabytes held before, megabytes by which the peak then grew, and seconds of the processor."""

    before: float
    growth: float
    seconds: float


def growth_of(count: int, variants: int, options: ModelOptions) -> Growth:
    """Score so many texts after a first batch. For a process of its own, on one thread."""
    import torch

    torch.set_num_threads(1)
    metric = METRICS["metricx24-xl"](Settings("en", None, options))

    def score(number: int, seed: int) -> None:
        # Texts are made as they are needed: they are not to count.
        texts = islice(rows(number, variants, seed), number)
        for part in chunked((Request(*row) for row in texts), metric.batch):
            for answers in answer_in_turn(metric, part):
                for place in answers:
                    metric.view(part[place])

    score(metric.batch, 4)
    before = _peak_megabytes(forget=True)
    start = time.process_time()
    score(count, 5)
    return Growth(before, _peak_megabytes() - before, time.process_time() - start)


def _peak_megabytes(forget: bool = False) -> float:
    """The most memory that this process has held; on Linux, if ``forget``, from now on.

    What ``getrusage`` says there can be the peak of the process that started this one.
    """
    status = Path("/proc/self/status")
    if not status.is_file():
        unit = 2**20 if sys.platform == "darwin" else 2**10
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    if forget:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return int(re.findall(r"VmHWM:\s*(\d+) kB", status.read_text(encoding="ascii"))[0]) / 2**10
