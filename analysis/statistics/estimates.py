"""Estimates of one mean and what can be said of it: cluster-robust errors, intervals, t-test, TOST.

Everything here speaks of one cell and knows no metric or category. A model that fits all cells at
once gives the same three numbers a cell (estimate, standard error, degrees of freedom), so that
``interval``, ``t_test``, ``tost`` and ``smallest_detectable`` serve it as they are.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from analysis.statistics.significance import log10_p_two_sided, log10_t_sf
from challenge_sets import InputError

Correction = Literal["CR0", "CR1", "CR2"]
State = Literal["ok", "degenerate", "too few", "no data"]
Equivalence = Literal["equivalent", "different", "both (different but negligible)", "inconclusive"]

ROUNDING = 1e-12
"""Spread below this share of the size of the numbers is rounding, not variance."""


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """A mean with its cluster-robust standard error, in the unit of the values.

    ``state`` is ``ok``; ``degenerate`` (no variance: ``se`` and ``df`` are ``None``); ``too few``
    (fewer than two clusters); or ``no data`` (``mean`` is ``None`` as well).
    """

    n: int
    missing: int
    clusters: int
    mean: float | None
    se: float | None
    df: float | None
    state: State


@dataclass(frozen=True, slots=True)
class Tost:
    """Two one-sided tests of a mean against ``low`` and ``high``; log10 p-values, ``log10_p`` the larger."""

    low: float
    high: float
    log10_p_low: float
    log10_p_high: float

    @property
    def log10_p(self) -> float:
        """The p-value of equivalence: the larger of the two."""
        return max(self.log10_p_low, self.log10_p_high)


@dataclass(frozen=True, slots=True)
class EquivalenceTest:
    """The answer of ``paired_equivalence``; the verdict is the state's name where no test was possible."""

    estimate: MeanEstimate
    tost: Tost | None
    log10_p_difference: float | None
    verdict: str


def cluster_mean(
    values: Sequence[float | None] | NDArray[np.float64],
    clusters: Sequence[Hashable] | NDArray[Any] | None = None,
    *,
    noise: float | None = None,
    correction: Correction = "CR2",
) -> MeanEstimate:
    """Mean of ``values`` (shape ``(n,)``) with a standard error robust to correlation within ``clusters``.

    With residual sums e_g and sizes n_g of G clusters, N values in all, the variance is
    sum_g e_g² w_g / N². w_g is 1 (CR0), G / (G - 1) (CR1) or 1 / (1 - n_g / N) (CR2, the default: the
    closed form of Bell and McCaffrey's correction for a mean; Pustejovsky and Tipton 2018, eq. 5).
    The reference distribution is t; the degrees of freedom of CR2 are Satterthwaite's (the same source),
    G - 1 where the clusters are of one size and fewer where few of them weigh most; those of CR0 and CR1
    are G - 1. Each value is its own cluster
    where ``clusters`` is ``None``; CR2 is then the ordinary standard error of a mean.

    ``None`` and NaN are missing: counted and left out, with their clusters. ``noise`` is the spread,
    in the unit of the values, below which differences are rounding (default: 1e-12 of the largest).
    """
    numbers = np.asarray(values, dtype=np.float64)
    seen = ~np.isnan(numbers)
    missing = int(numbers.size - seen.sum())
    numbers = numbers[seen]
    n = int(numbers.size)
    if n == 0:
        return MeanEstimate(0, missing, 0, None, None, None, "no data")
    codes = np.arange(n) if clusters is None else _codes(clusters, seen)
    sizes = np.bincount(codes)
    groups = int(sizes.size)
    if noise is None:
        noise = ROUNDING * float(np.abs(numbers).max())
    mean = math.fsum(numbers) / n
    if groups < 2:
        return MeanEstimate(n, missing, groups, mean, None, None, "too few")
    if float(np.ptp(numbers)) <= noise:
        return MeanEstimate(n, missing, groups, mean, None, None, "degenerate")
    sums: NDArray[np.float64] = np.bincount(codes, weights=numbers - mean)  # type: ignore[assignment]
    squares = sums**2
    if correction == "CR1":
        squares = squares * (groups / (groups - 1))
    elif correction == "CR2":
        squares = squares / (1.0 - sizes / n)
    se = math.sqrt(math.fsum(squares)) / n
    if se <= noise:
        # The values vary, but their sums per cluster do not: no variance between clusters to test with.
        return MeanEstimate(n, missing, groups, mean, None, None, "degenerate")
    df = _satterthwaite_df(sizes / n) if correction == "CR2" else float(groups - 1)
    return MeanEstimate(n, missing, groups, mean, se, df, "ok")


def _satterthwaite_df(shares: NDArray[np.float64]) -> float:
    """Degrees of freedom of CR2 for a mean, from each cluster's share of the values.

    The variance estimate is a quadratic form in the values; under equal variances its mean is 1 / N and
    its own variance has this closed form (Pustejovsky and Tipton 2018, eq. 11, for an intercept alone).
    """
    weights = shares**2 / (1.0 - shares)
    return float(1.0 / ((shares**2).sum() + weights.sum() ** 2 - (weights**2).sum()))


def _codes(clusters: Sequence[Hashable] | NDArray[Any], seen: NDArray[np.bool_]) -> NDArray[np.intp]:
    if len(clusters) != seen.size:
        raise ValueError(f"{seen.size} values and {len(clusters)} clusters")
    codes: dict[Hashable, int] = {}
    return np.array(
        [codes.setdefault(key, len(codes)) for key, here in zip(clusters, seen, strict=True) if here],
        dtype=np.intp,
    )


def interval(mean: float, se: float, df: float, level: float) -> tuple[float, float]:
    """Two-sided confidence interval of a mean from Student's t; ``level`` as a share, e.g. 0.95."""
    from scipy.stats import t as student

    half = float(student.ppf((1.0 + level) / 2.0, df)) * se
    return mean - half, mean + half


def t_test(mean: float, se: float, df: float) -> float:
    """Log10 of the two-sided p-value of the mean against zero."""
    return log10_p_two_sided(mean / se, df)


def tost(mean: float, se: float, df: float, low: float, high: float) -> Tost:
    """Two one-sided tests that the mean lies within (``low``, ``high``), bounds in the unit of the mean.

    Raises ``InputError`` unless ``low`` < ``high``. Source: Schuirmann 1987.
    """
    check_bounds(low, high)
    return Tost(low, high, log10_t_sf((mean - low) / se, df), log10_t_sf((high - mean) / se, df))


def check_bounds(low: float, high: float) -> None:
    """Raise ``InputError`` unless both equivalence bounds are numbers and ``low`` lies below ``high``."""
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(f"the lower equivalence bound {low:g} is not below the upper bound {high:g}")


def equivalence_verdict(log10_p_difference: float, log10_p_equivalence: float, alpha: float) -> Equivalence:
    """The four answers of a difference test and a TOST together, from (adjusted) log10 p-values."""
    different = log10_p_difference < math.log10(alpha)
    equivalent = log10_p_equivalence < math.log10(alpha)
    if different and equivalent:
        return "both (different but negligible)"
    return "equivalent" if equivalent else "different" if different else "inconclusive"


def paired_equivalence(
    differences: Sequence[float | None] | NDArray[np.float64],
    low: float,
    high: float,
    *,
    clusters: Sequence[Hashable] | NDArray[Any] | None = None,
    alpha: float = 0.05,
) -> EquivalenceTest:
    """TOST of paired differences (shape ``(n,)``) against bounds in their unit, with the difference test.

    The verdict is one of ``Equivalence``, or ``degenerate``, ``too few`` or ``no data`` where no test
    is possible; then no p-value is given. Missing differences are counted in the estimate.
    """
    return equivalence_test(cluster_mean(differences, clusters), low, high, alpha=alpha)


def equivalence_test(
    estimate: MeanEstimate, low: float, high: float, *, alpha: float = 0.05
) -> EquivalenceTest:
    """TOST and difference test of an estimated mean, bounds in its unit; see ``paired_equivalence``."""
    check_bounds(low, high)
    if estimate.mean is None or estimate.se is None or estimate.df is None:
        return EquivalenceTest(estimate, None, None, estimate.state)
    test = tost(estimate.mean, estimate.se, estimate.df, low, high)
    difference = t_test(estimate.mean, estimate.se, estimate.df)
    return EquivalenceTest(estimate, test, difference, equivalence_verdict(difference, test.log10_p, alpha))


def smallest_detectable(se: float, df: float, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """The true difference that the two-sided t-test would find with the given power, in the unit of ``se``.

    (t_{1 - alpha/2} + t_{power}) × SE: the usual approximation to the noncentral t, before any
    correction for multiplicity.
    """
    from scipy.stats import t as student

    return float(student.ppf(1.0 - alpha / 2.0, df) + student.ppf(power, df)) * se
