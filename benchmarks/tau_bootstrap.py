"""Speed of the document bootstrap of tau between conditions: matrix products against a loop with scipy.

14 metrics, 15 systems, 23 documents of 13 segments under DOC, MIX and SEG, 10,000 resamples; the loop puts
the drawn segments side by side, and its time is extrapolated from a few resamples of one metric.

    OMP_NUM_THREADS=1 python benchmarks/tau_bootstrap.py [--metrics 14] [--resamples 10000]
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from analysis.ranking.conditions import taus_between  # noqa: E402
from analysis.ranking.units import Block  # noqa: E402
from analysis.statistics.rank import tau_threshold  # noqa: E402
from analysis.statistics.resampling import resample_counts  # noqa: E402

CONDITIONS = ("DOC", "MIX", "SEG")
DOCUMENTS, SEGMENTS = 23, 13


@dataclass(frozen=True)
class BootstrapTimes:
    """Seconds for all metrics, and the largest difference between the taus that both ways looked at."""

    seconds: float
    loop_seconds: float
    difference: float

    @property
    def ratio(self) -> float:
        return self.loop_seconds / self.seconds


def tau_bootstrap(
    metrics: int = 14, systems: int = 15, resamples: int = 10_000, looped: int = 200
) -> BootstrapTimes:
    """Time both ways on the same scores and draws."""
    rng = np.random.default_rng(0)
    blocks = [_block(f"metric {number}", systems, rng) for number in range(metrics)]
    threshold = tau_threshold("0.667")
    start = time.perf_counter()
    for block in blocks:
        taus_between(block, threshold, resamples=resamples)
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    means = _loop(blocks[0], looped)
    loop_seconds = (time.perf_counter() - start) / looped * resamples * metrics
    found = [row.resampled for row in taus_between(blocks[0], threshold, resamples=looped)]
    difference = max(abs(row.mean - mean) for row, mean in zip(found, means, strict=True) if row is not None)
    return BootstrapTimes(seconds, loop_seconds, difference)


def _block(name: str, systems: int, rng: np.random.Generator) -> Block:
    document = np.repeat(np.arange(DOCUMENTS), SEGMENTS)
    quality = np.linspace(0.0, 0.5, systems)[np.newaxis, :, np.newaxis]
    return Block(
        metric=name,
        conditions=CONDITIONS,
        systems=tuple(f"system {number:02}" for number in range(systems)),
        left_out=(),
        incomplete=0,
        unit=np.arange(document.size),
        document=document,
        values=quality + rng.normal(size=(len(CONDITIONS), systems, document.size)),
    )


def _loop(block: Block, resamples: int) -> list[float]:
    segments = [np.flatnonzero(block.document == document) for document in range(DOCUMENTS)]
    taus: list[list[float]] = []
    for counts in resample_counts(DOCUMENTS, resamples, np.random.default_rng(0)):
        drawn = np.concatenate([segments[place] for place in np.repeat(np.arange(DOCUMENTS), counts)])
        means = block.values[:, :, drawn].mean(axis=2)
        taus.append(
            [kendalltau(means[a], means[b]).statistic for a, b in combinations(range(len(CONDITIONS)), 2)]
        )
    return np.mean(taus, axis=0).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--metrics", type=int, default=14)
    parser.add_argument("--resamples", type=int, default=10_000)
    options = parser.parse_args()
    times = tau_bootstrap(options.metrics, resamples=options.resamples)
    print(
        f"{options.metrics} metrics, {options.resamples} resamples: {times.seconds:.2f} s, loop "
        f"{times.loop_seconds:.0f} s (extrapolated), {times.ratio:.0f} times faster, mean taus "
        f"within {times.difference:.0e}"
    )


if __name__ == "__main__":
    main()
