"""Speed and memory of the statistics against what a user would otherwise run, on one thread.

A measurement is a function that returns lines; ``MEASUREMENTS`` names them. Ratios are of one run.

    python benchmarks/statistics.py [study large alpha ranking] [--refits N]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

# Before numpy is loaded: more threads make the other implementations slower.
os.environ.setdefault("OMP_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parents[1]
# In the place of this folder, where this file would stand for Python's own module of the same name.
sys.path[0] = str(ROOT)

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

METRICS, CATEGORIES = 13, 11
PAIRS, SEGMENTS = 1_365, 318  # 17,745 rows
LARGER = 100


@dataclass(frozen=True)
class Line:
    """One figure: seconds, how many times slower the other way is, and whether a goal is met."""

    what: str
    seconds: float
    ratio: float | None = None
    goal: str = ""
    met: bool | None = None
    note: str = ""


@dataclass(frozen=True)
class Study:
    """Simulated deltas, one row a pair and metric: arrays of shape ``(n,)``."""

    delta: NDArray[np.float64]
    condition: NDArray[np.intp]
    metric: NDArray[np.intp]
    segment: NDArray[np.intp]

    @property
    def cell(self) -> NDArray[np.intp]:
        return self.condition * METRICS + self.metric


def simulate(pairs: int, segments: int) -> Study:
    rng = np.random.default_rng(0)
    category = rng.permutation(np.arange(pairs) % CATEGORIES)
    segment = rng.permutation(np.arange(pairs) % segments)
    effects = rng.normal(scale=0.5, size=(CATEGORIES, METRICS))
    rows = np.repeat(np.arange(pairs), METRICS)
    metric = np.tile(np.arange(METRICS), pairs)
    delta = effects[category[rows], metric] + 0.25 * rng.normal(size=segments)[segment[rows]]
    return Study(delta + rng.normal(size=rows.size), category[rows], metric, segment[rows])


def measure_study(options: argparse.Namespace) -> Iterator[Line]:
    """The study's own size: one exact fit, statsmodels' fit of the same, and a refit for every cell."""
    from statsmodels.regression.mixed_linear_model import MixedLM
    from threadpoolctl import threadpool_limits

    from analysis.mixed.exact import fit_cells

    study = simulate(PAIRS, SEGMENTS)
    seconds = []
    for _ in range(6):
        start = time.perf_counter()
        fit = fit_cells(study.delta, study.cell, study.segment)
        seconds.append(time.perf_counter() - start)
    # The first fit loads scipy.
    exact = float(np.median(seconds[1:]))
    assert fit.se is not None
    yield Line(f"{study.delta.size:,} rows, {METRICS * CATEGORIES} cells: exact", exact)
    design = np.eye(METRICS * CATEGORIES)[study.cell]
    start = time.perf_counter()
    with threadpool_limits(1), quiet():
        other = MixedLM(study.delta, design, groups=study.segment).fit(method="powell")
    powell = time.perf_counter() - start
    yield Line(
        "the same by statsmodels, powell",
        powell,
        powell / exact,
        "50 times",
        powell / exact >= 50,
        f"estimates within {np.abs(other.fe_params - fit.beta).max():.0e}, "
        f"SE within {np.abs(other.bse_fe / fit.se - 1).max():.0e} of theirs",
    )
    refit, difference = refits(study, fit.beta, options.refits)
    refit *= METRICS * CATEGORIES
    yield Line(
        f"{METRICS * CATEGORIES} re-levelled refits, from {options.refits}",
        refit,
        refit / exact,
        "1000 times",
        refit / exact >= 1000,
        f"estimates within {difference:.0e}",
    )


def refits(study: Study, estimates: NDArray[np.float64], count: int) -> tuple[float, float]:
    """Seconds for one fit with a cell as reference, and how far its intercept is from that cell's mean."""
    import pandas as pd
    from statsmodels.regression.mixed_linear_model import MixedLM
    from threadpoolctl import threadpool_limits

    frame = pd.DataFrame(
        {
            "delta": study.delta,
            "condition": study.condition,
            "metric": study.metric,
            "segment": study.segment,
        }
    )
    cells = np.random.default_rng(1).choice(METRICS * CATEGORIES, count, replace=False)
    difference = 0.0
    start = time.perf_counter()
    for cell in cells:
        condition, metric = divmod(int(cell), METRICS)
        formula = f"delta ~ C(condition, Treatment({condition})) * C(metric, Treatment({metric}))"
        with threadpool_limits(1), quiet():
            fit = MixedLM.from_formula(formula, frame, groups="segment").fit(method="powell")
        difference = max(difference, abs(fit.fe_params["Intercept"] - estimates[cell]))
    return (time.perf_counter() - start) / count, difference


def measure_large(_: argparse.Namespace) -> Iterator[Line]:
    """A hundred times the study, in processes of its own: the fit alone, and the whole command."""
    code = (
        f"import sys; sys.path[0] = {str(ROOT)!r}\nfrom benchmarks.statistics import fit_large\nfit_large()\n"
    )
    _, memory, output = child("-c", code)
    answer = json.loads(output)
    yield Line(
        f"{answer['rows']:,} rows: exact, from arrays",
        answer["seconds"],
        goal="10 s, 2 GB",
        met=answer["seconds"] < 10 and memory < 2,
        note=f"peak {memory:.2f} GB with the data",
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "deltas.csv"
        write(simulate(PAIRS * LARGER, SEGMENTS * LARGER), path)
        seconds, memory, output = child("-m", "analysis", "mixed-model", str(path), "--json")
        assert json.loads(output)["n_rows"] == answer["rows"]
        size = path.stat().st_size / 1e6
    yield Line(f"mixed-model FILE.csv of {size:.0f} MB, with tests", seconds, note=f"peak {memory:.2f} GB")


def fit_large() -> None:
    """What the child process of ``measure_large`` runs."""
    from analysis.mixed.exact import fit_cells

    study = simulate(PAIRS * LARGER, SEGMENTS * LARGER)
    start = time.perf_counter()
    fit = fit_cells(study.delta, study.cell, study.segment)
    assert fit.state == "ok"
    print(json.dumps({"rows": study.delta.size, "seconds": time.perf_counter() - start}))


def child(*arguments: str) -> tuple[float, float, str]:
    """Run Python with the arguments: seconds, peak memory in GB, what it printed."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        start = time.perf_counter()
        process = os.posix_spawn(
            sys.executable,
            [sys.executable, *arguments],
            {**os.environ, "PYTHONPATH": str(ROOT)},
            file_actions=[(os.POSIX_SPAWN_DUP2, output.fileno(), 1)],
        )
        _, status, usage = os.wait4(process, 0)
        seconds = time.perf_counter() - start
        if status != 0:
            sys.exit(f"python {' '.join(arguments[:3])} ended with {os.waitstatus_to_exitcode(status)}")
        output.seek(0)
        # Linux counts in kilobytes.
        return seconds, usage.ru_maxrss / 1e6, output.read()


def write(study: Study, path: Path) -> None:
    columns = (study.segment, study.condition, study.metric, study.delta)
    with path.open("w", encoding="utf-8") as stream:
        stream.write("segment,condition,metric,delta\n")
        for segment, condition, metric, delta in zip(*(c.tolist() for c in columns), strict=True):
            stream.write(f"s{segment},c{condition},m{metric},{delta:.6f}\n")


def measure_alpha(_: argparse.Namespace) -> Iterator[Line]:
    """Krippendorff's alpha of 20,000 continuous units, three annotators each.

    The other way is to form all pairs of values: here once, a row of the matrix at a time, which is what
    fits into memory; the coincidence matrix of 20,000 continuous units does not.
    """
    from analysis.agreement.alpha import Level, krippendorff_alpha

    units, annotators, resamples = 20_000, 3, 1000
    rng = np.random.default_rng(0)
    scores = (rng.normal(size=(units, 1)) + rng.normal(size=(units, annotators))).ravel()
    unit = np.repeat(np.arange(units), annotators)
    seconds = {}
    for level in Level:
        start = time.perf_counter()
        answer = krippendorff_alpha(scores, unit, level=level)
        seconds[level] = time.perf_counter() - start
        yield Line(
            f"alpha, {level}, {units:,} continuous units",
            seconds[level],
            goal="1 s",
            met=seconds[level] < 1,
        )
        start = time.perf_counter()
        krippendorff_alpha(scores, unit, level=level, resamples=resamples)
        yield Line(f"with {resamples} resamples", time.perf_counter() - start)
        if level is Level.INTERVAL:
            closed = answer.alpha
    start = time.perf_counter()
    between = sum(float(((scores - score) ** 2).sum()) for score in scores)
    table = scores.reshape(units, annotators)
    within = float(((table[:, :, None] - table[:, None, :]) ** 2).sum()) / (annotators - 1)
    by_pairs = 1.0 - (scores.size - 1) * within / between
    pairs = time.perf_counter() - start
    assert closed is not None
    yield Line(
        "alpha, interval, all pairs of values",
        pairs,
        pairs / seconds[Level.INTERVAL],
        note=f"alpha within {abs(closed - by_pairs):.0e}",
    )


def measure_ranking(_: argparse.Namespace) -> Iterator[Line]:
    """Document bootstrap of tau, and calibration of ties, each against a loop."""
    from benchmarks.tau_bootstrap import tau_bootstrap
    from benchmarks.tie_calibration import tie_calibration

    tau = tau_bootstrap()
    yield Line(
        "tau: 10,000 resamples x 14 metrics x 15 systems",
        tau.seconds,
        goal="10 s",
        met=tau.seconds < 10,
    )
    yield Line(
        "the same by a loop with scipy, extrapolated",
        tau.loop_seconds,
        tau.ratio,
        note=f"mean taus within {tau.difference:.0e}",
    )
    ties = tie_calibration()
    yield Line(f"ties: {ties.pairs:,} pairs of scores calibrated", ties.seconds)
    equal = ties.threshold == ties.loop_threshold
    yield Line(
        "the same by a loop over thresholds",
        ties.loop_seconds,
        ties.ratio,
        "20 times",
        ties.ratio >= 20 and equal,
        f"thresholds {'equal' if equal else 'DIFFER'}",
    )


MEASUREMENTS: dict[str, Callable[[argparse.Namespace], Iterator[Line]]] = {
    "study": measure_study,
    "large": measure_large,
    "alpha": measure_alpha,
    "ranking": measure_ranking,
}


def quiet() -> warnings.catch_warnings:
    """statsmodels warns of boundaries that are none."""
    return warnings.catch_warnings(action="ignore")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(MEASUREMENTS)}")
    parser.add_argument("--refits", type=int, default=10, help="re-levelled refits to extrapolate from")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(MEASUREMENTS))
    if unknown or not 1 <= options.refits <= METRICS * CATEGORIES:
        parser.error(f"no measurement {', '.join(unknown)}" if unknown else "--refits lies in 1 to 143")
    print(f"{'':52} {'seconds':>10} {'ratio':>8}  {'goal':11}")
    missed = 0
    for name in options.names or MEASUREMENTS:
        for line in MEASUREMENTS[name](options):
            ratio = "" if line.ratio is None else f"{line.ratio:.0f}"
            goal = "" if line.met is None else f"{line.goal} {'met' if line.met else 'MISSED'}"
            print(f"{line.what:52} {line.seconds:10.4g} {ratio:>8}  {goal:17} {line.note}", flush=True)
            missed += line.met is False
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
