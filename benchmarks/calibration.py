"""Calibration: how often each test is wrong, on data whose truth is known.

Draws every scenario of ``calibration_pairs`` and ``calibration_judgements`` many times and writes
``docs/calibration.md``: share of false
positives at nominal 5 % and coverage of 95 % intervals, with the Monte Carlo error.

    python benchmarks/calibration.py [--replicates 2000] [--seed 1] [--only TEXT] [--processes 2] [--write]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "benchmarks"
# Last, not first: a file of this folder has the name of a module of Python's own.
sys.path[:] = [str(ROOT), *(entry for entry in sys.path if Path(entry).resolve() != HERE), str(HERE)]

from calibration_core import Scenario, Test  # noqa: E402
from calibration_judgements import JUDGEMENTS  # noqa: E402
from calibration_pairs import SENSITIVITY  # noqa: E402

SCENARIOS = (*SENSITIVITY, *JUDGEMENTS)
DOCUMENT = ROOT / "docs" / "calibration.md"
MOST, LEAST = 0.075, 0.03
"""What a default may reject of true nulls anywhere, and what a difference test must in plain scenarios."""


@dataclass(frozen=True)
class Row:
    """What one test did in one scenario; shares, ``None`` where it has none."""

    scenario: str
    plain: bool
    test: Test
    replicates: int
    rejected: float | None
    covered: float | None

    def verdict(self) -> str:
        """Empty, or what is out of bounds."""
        if self.test.kind == "descriptive":
            return "descriptive"
        if self.test.kind == "interval":
            assert self.covered is not None
            return "" if self.covered >= 1.0 - MOST else "too narrow"
        assert self.rejected is not None
        if self.rejected > MOST:
            return "too many"
        if self.plain and self.test.kind == "difference" and self.rejected < LEAST:
            return "too few"
        return ""


def calibrate(scenario: Scenario, replicates: int, seed: int) -> list[Row]:
    """Draw ``scenario`` and count. A scenario's draws do not depend on which others are run."""
    key = [seed, *scenario.name.encode()]
    rng = np.random.default_rng(key)
    outcomes = [scenario.draw(rng) for _ in range(replicates)]
    rows = []
    for place, test in enumerate(scenario.tests):
        rejected = [each[place].rejected for each in outcomes if each[place].rejected is not None]
        covered = [each[place].covered for each in outcomes if each[place].covered is not None]
        rows.append(
            Row(
                scenario.name,
                scenario.plain,
                test,
                replicates,
                float(np.mean(rejected)) if rejected else None,
                float(np.mean(covered)) if covered else None,
            )
        )
    return rows


def run(replicates: int, seed: int, only: str, processes: int) -> list[Row]:
    """All scenarios whose name holds ``only``, in order."""
    chosen = [place for place, scenario in enumerate(SCENARIOS) if only in scenario.name]
    rows = []
    with ProcessPoolExecutor(processes) as pool:
        jobs = [pool.submit(_one, place, replicates, seed) for place in chosen]
        for place, job in zip(chosen, jobs, strict=True):
            start = time.perf_counter()
            rows += job.result()
            print(f"{SCENARIOS[place].name}  {time.perf_counter() - start:.0f} s", file=sys.stderr)
    return rows


def _one(place: int, replicates: int, seed: int) -> list[Row]:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return calibrate(SCENARIOS[place], replicates, seed)


def table(rows: Iterable[Row]) -> str:
    """The rows as a Markdown table, defaults in bold."""
    lines = [
        "| scenario | test | false positives | coverage | |",
        "| :-- | :-- | --: | --: | :-- |",
    ]
    last = ""
    for row in rows:
        name = f"**{row.test.name}**" if row.test.default else row.test.name
        notes = [row.verdict(), "the product warns" if row.test.warned else ""]
        cells = [
            row.scenario if row.scenario != last else "",
            name,
            "" if row.rejected is None else f"{100 * row.rejected:.1f} %",
            "" if row.covered is None else f"{100 * row.covered:.1f} %",
            "; ".join(note for note in notes if note),
        ]
        lines.append("| " + " | ".join(cells) + " |")
        last = row.scenario
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run, print the table, and put it into the document where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--replicates", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    text = table(run(arguments.replicates, arguments.seed, arguments.only, arguments.processes))
    print(text)
    if arguments.write:
        document = DOCUMENT.read_text(encoding="utf-8")
        head, _, rest = document.partition("<!-- table -->\n")
        _, _, tail = rest.partition("<!-- end -->\n")
        DOCUMENT.write_text(f"{head}<!-- table -->\n{text}<!-- end -->\n{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
