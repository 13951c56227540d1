"""Verdicts by kind, from the two p-values and the sign."""

from __future__ import annotations

import pytest

from analysis.sensitivity.verdicts import MEANINGS, Verdict, decide
from challenge_sets import Kind

SURE, UNSURE = -5.0, -0.2


@pytest.mark.parametrize(
    ("kind", "mean", "difference", "equivalence", "verdict"),
    [
        ("error", 1.0, SURE, None, "detected"),
        ("error", -1.0, SURE, None, "reversed"),
        ("error", 0.1, SURE, SURE, "detected"),
        ("error", 0.1, UNSURE, SURE, "insensitive"),
        ("error", 1.0, UNSURE, UNSURE, "inconclusive"),
        ("error", 1.0, UNSURE, None, "inconclusive"),
        ("variation", 0.1, UNSURE, SURE, "tolerated"),
        ("variation", 0.1, SURE, SURE, "tolerated (different but negligible)"),
        ("variation", 1.0, SURE, UNSURE, "penalised"),
        ("variation", -1.0, SURE, UNSURE, "rewarded"),
        ("variation", 1.0, UNSURE, UNSURE, "inconclusive"),
        ("variation", 1.0, UNSURE, None, "inconclusive"),
        ("control", 1.0, SURE, None, "scores lower"),
        ("control", -1.0, SURE, None, "scores higher"),
        ("control", -1.0, UNSURE, None, "no difference"),
    ],
)
def test_verdicts(
    kind: Kind, mean: float, difference: float, equivalence: float | None, verdict: str
) -> None:
    assert decide(kind, mean, difference, equivalence, 0.05) == verdict


def test_every_verdict_has_a_meaning() -> None:
    assert set(MEANINGS) == set(Verdict)
