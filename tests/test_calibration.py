"""The calibration suite, small and seeded; and what its document says of the defaults."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from scipy.stats import binom

ROOT = Path(__file__).parents[1]
REPLICATES = 200


def load() -> ModuleType:
    path = ROOT / "benchmarks" / "calibration.py"
    spec = importlib.util.spec_from_file_location("calibration", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up by name.
    sys.modules["calibration"] = module
    spec.loader.exec_module(module)
    return module


CALIBRATION = load()
TABLE = [
    [field.strip() for field in line.strip("|").split(" | ")]
    for line in (ROOT / "docs" / "calibration.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("|")
][2:]


@pytest.mark.parametrize("scenario", CALIBRATION.SCENARIOS, ids=lambda scenario: scenario.name)
def test_defaults_hold_their_level(scenario: object) -> None:
    """No more false positives than 7.5 % could bring about in one run of a thousand."""
    most = int(binom.ppf(0.999, REPLICATES, CALIBRATION.MOST))
    for row in CALIBRATION.calibrate(scenario, REPLICATES, seed=11):
        if not row.test.default or row.test.warned or row.test.kind == "descriptive":
            continue
        wrong = row.rejected if row.rejected is not None else 1.0 - row.covered
        # Scenarios with many cells average over them, which only makes the bound easier to keep.
        assert wrong * REPLICATES <= most, (row.test.name, wrong)


def test_the_naive_analysis_is_as_wrong_as_said() -> None:
    """23 documents and 10 annotators: a paired t-test finds false equivalence in about a quarter."""
    (scenario,) = [one for one in CALIBRATION.SCENARIOS if "10 annotators, variance 0.9" in one.name]
    rows = {row.test.name: row for row in CALIBRATION.calibrate(scenario, REPLICATES, seed=12)}
    assert rows["equivalence, naive"].rejected > 0.15


def test_the_document_has_every_scenario_and_test() -> None:
    expected = [
        (scenario.name if number == 0 else "", test.name)
        for scenario in CALIBRATION.SCENARIOS
        for number, test in enumerate(scenario.tests)
    ]
    assert [(row[0], row[1].strip("*")) for row in TABLE] == expected


def test_no_default_is_wrong_without_a_warning() -> None:
    defaults = [row for row in TABLE if row[1].startswith("**")]
    assert len(defaults) >= len(CALIBRATION.SCENARIOS)
    for row in defaults:
        verdict = row[-1]
        assert not re.search("too many|too narrow", verdict) or "the product warns" in verdict, row
        assert "too few" not in verdict, row
