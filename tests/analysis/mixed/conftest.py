"""Answers of R's lme4, lmerTest and clubSandwich beside the tables they were computed from."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray


@dataclass(frozen=True)
class Oracle:
    """A table as arrays of shape ``(n,)``, cells and metrics numbered as in R's ``answer``."""

    path: Path
    values: NDArray[np.float64]
    cells: NDArray[np.intp]
    conditions: NDArray[np.intp]
    metrics: NDArray[np.intp]
    segments: NDArray[np.intp]
    answer: dict[str, Any]


@pytest.fixture(scope="session")
def oracle(data: Path) -> Callable[[str], Oracle]:
    def read(name: str) -> Oracle:
        path = data / "oracle_statistics" / f"{name}.csv"
        with path.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        answer = json.loads(path.with_suffix(".lme4.json").read_text("utf-8"))
        cells = {cell: place for place, cell in enumerate(answer["reml"]["cells"])}

        def codes(column: str) -> NDArray[np.intp]:
            return np.unique([row[column] for row in rows], return_inverse=True)[1]

        return Oracle(
            path,
            np.array([float(row["delta"]) for row in rows]),
            np.array([cells[f"{row['metric']}|{row['condition']}"] for row in rows]),
            codes("condition"),
            codes("metric"),
            codes("segment"),
            answer,
        )

    return read
