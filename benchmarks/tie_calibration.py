"""Speed of tie calibration: one sort and a running sum against counting all pairs anew at every threshold.

Scores as of 12 systems on 460 segments: human scores are whole, the metric is continuous.

    python benchmarks/tie_calibration.py [--segments 460]
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from analysis.ranking.ties import calibrate_ties  # noqa: E402


@dataclass(frozen=True)
class TieTimes:
    """Seconds for ``pairs`` pairs, and the threshold that each way finds."""

    pairs: int
    loop_seconds: float
    seconds: float
    loop_threshold: float
    threshold: float

    @property
    def ratio(self) -> float:
        return self.loop_seconds / self.seconds


def tie_calibration(segments: int = 460, systems: int = 12, seed: int = 0) -> TieTimes:
    """Time both ways on the same scores."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(systems, segments))
    gold = -np.round(np.maximum(0.0, 4 * quality))
    metric = -quality + rng.normal(size=quality.shape)
    start = time.perf_counter()
    looped = _loop(gold, metric)
    middle = time.perf_counter()
    repeats = 10
    for _ in range(repeats):
        found = calibrate_ties(gold, metric)
    seconds = (time.perf_counter() - middle) / repeats
    assert found.threshold is not None
    return TieTimes(found.pairs, middle - start, seconds, looped, found.threshold)


def _loop(gold: np.ndarray, metric: np.ndarray) -> float:
    """Every difference as a threshold; numpy counts the pairs that agree, all of them each time."""
    first, second = np.triu_indices(gold.shape[0], 1)
    human = np.sign(gold[first] - gold[second]).ravel()
    difference = (metric[first] - metric[second]).ravel()
    size, preferred = np.abs(difference), np.sign(difference)
    best, found = -1, 0.0
    for threshold in np.unique(np.append(size, 0.0)):
        agree = int((np.where(size <= threshold, 0.0, preferred) == human).sum())
        if agree > best:
            best, found = agree, float(threshold)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--segments", type=int, default=460)
    times = tie_calibration(parser.parse_args().segments)
    same = "equal" if times.threshold == times.loop_threshold else "DIFFERENT"
    print(
        f"{times.pairs} pairs: loop {times.loop_seconds:.2f} s, calibrate_ties {times.seconds:.4f} s, "
        f"{times.ratio:.0f} times faster, thresholds {same} ({times.threshold:.6g})"
    )


if __name__ == "__main__":
    main()
