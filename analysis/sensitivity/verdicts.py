"""What an estimate means: the verdict of a cell, from its adjusted p-values and the sign of its mean."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import assert_never

from analysis.statistics.estimates import equivalence_verdict
from challenge_sets import Kind


class Verdict(StrEnum):
    """The answer that a cell of the sensitivity table gives."""

    DETECTED = "detected"
    INSENSITIVE = "insensitive"
    REVERSED = "reversed"
    TOLERATED = "tolerated"
    NEGLIGIBLE = "tolerated (different but negligible)"
    PENALISED = "penalised"
    REWARDED = "rewarded"
    INCONCLUSIVE = "inconclusive"
    LOWER = "scores lower"
    HIGHER = "scores higher"
    NO_DIFFERENCE = "no difference"
    BLIND = "blind by construction"
    DEGENERATE = "degenerate"
    TOO_FEW = "too few"
    NO_SCORES = "no scores"


MEANINGS: dict[Verdict, str] = {
    Verdict.DETECTED: "the error costs points",
    Verdict.INSENSITIVE: "the reaction to the error, if any, lies within the margin",
    Verdict.REVERSED: "the text with the error scores higher",
    Verdict.TOLERATED: "the reaction to the acceptable variation lies within the margin",
    Verdict.NEGLIGIBLE: "a reaction to the variation exists and lies within the margin",
    Verdict.PENALISED: "the acceptable variation costs points",
    Verdict.REWARDED: "the acceptable variation gains points",
    Verdict.INCONCLUSIVE: "neither a reaction nor its absence could be shown: too few or too varied pairs",
    Verdict.LOWER: "the control's copy scores lower than the original",
    Verdict.HIGHER: "the control's copy scores higher than the original",
    Verdict.NO_DIFFERENCE: "no difference was found for the control",
    Verdict.BLIND: "the metric's input is the same on both sides: it could not have reacted",
    Verdict.DEGENERATE: "the differences do not vary: no test is possible",
    Verdict.TOO_FEW: "fewer than two segments: no test is possible",
    Verdict.NO_SCORES: "no pair has a score on both sides",
}
"""One line of legend a verdict."""


def decide(
    kind: Kind,
    mean: float,
    log10_p_difference: float,
    log10_p_equivalence: float | None,
    alpha: float,
) -> Verdict:
    """The verdict of a cell that could be tested; ``mean`` is the mean delta, positive for a penalty.

    A difference that was not found is not its absence. An error that is not detected is *insensitive* only
    where the mean is shown to lie within the margin; a variation within the margin is *tolerated* whatever
    else holds. Without a margin (``log10_p_equivalence`` is ``None``) neither can be shown.
    """
    different = log10_p_difference < math.log10(alpha)
    if kind == "control":
        if not different:
            return Verdict.NO_DIFFERENCE
        return Verdict.LOWER if mean > 0 else Verdict.HIGHER
    answer = equivalence_verdict(
        log10_p_difference, 0.0 if log10_p_equivalence is None else log10_p_equivalence, alpha
    )
    if kind == "error":
        if different:
            return Verdict.DETECTED if mean > 0 else Verdict.REVERSED
        return Verdict.INSENSITIVE if answer == "equivalent" else Verdict.INCONCLUSIVE
    if kind == "variation":
        if answer == "equivalent":
            return Verdict.TOLERATED
        if answer == "both (different but negligible)":
            return Verdict.NEGLIGIBLE
        if answer == "different":
            return Verdict.PENALISED if mean > 0 else Verdict.REWARDED
        return Verdict.INCONCLUSIVE
    assert_never(kind)
