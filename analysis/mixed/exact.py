"""The mixed model with one random intercept, fitted exactly by its profile likelihood.

y = X β + u_segment + e with Var(u) = τ², Var(e) = σ² and X the cells, or fewer columns that are linear in the
cells. With λ = τ² / σ² the inverse covariance of a segment with n rows is (I - λ / (1 + λ n) 1 1') / σ²; β
and σ² follow from λ in closed form, so that one number is left to find, as the root of an analytic
derivative (Bates et al. 2015, Journal of Statistical Software 67(1), section 3, for the profiled criteria).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from analysis.mixed.sufficient import CellSums, cell_sums
from analysis.mixed.threads import one_thread
from analysis.statistics.estimates import ROUNDING

State = Literal["ok", "degenerate", "too few"]

_GRID = np.concatenate([[0.0], np.logspace(-6.0, 10.0, 17)])
"""Values of λ between which the derivative's roots are looked for; beyond the last, σ² counts as 0."""
_NO_GAIN = 1e-12
"""A deviance lower by this share is not lower."""
_FLAT = 1e-4
"""A deviance lower by this much is no reason to believe in a residual variance."""


@dataclass(frozen=True, slots=True)
class MixedFit:
    """A fitted model of p fixed effects; ``beta`` and ``covariance`` are in the unit of the values.

    ``state`` is ``ok``; ``degenerate`` (the values do not vary within cells, or not within segments: no
    variance to test with); or ``too few`` (no more rows than effects, or no effect has rows of two segments,
    so that the two cannot be told apart). Without a test ``beta`` holds the least-squares estimates and
    all other numbers are ``None``. ``boundary``: the variance between segments is estimated as 0. ``df`` are
    Satterthwaite's for each effect; ``None`` beside a covariance stands for the normal distribution.
    """

    state: State
    n: int
    rank: int
    reml: bool
    beta: NDArray[np.float64]
    covariance: NDArray[np.float64] | None
    df: NDArray[np.float64] | None
    sigma2: float | None
    tau2: float | None
    log_likelihood: float | None
    boundary: bool

    @property
    def se(self) -> NDArray[np.float64] | None:
        """Standard errors of ``beta``, shape ``(p,)``."""
        return None if self.covariance is None else np.sqrt(np.diag(self.covariance))


def fit_cells(
    values: NDArray[np.float64],
    cells: NDArray[np.intp],
    segments: NDArray[np.intp],
    *,
    reml: bool = True,
) -> MixedFit:
    """Fit cell means with a random intercept for each segment; arguments as of ``cell_sums``."""
    return fit_sums(cell_sums(values, cells, segments), reml=reml)


def fit_sums(sums: CellSums, *, reml: bool = True, columns: NDArray[np.float64] | None = None) -> MixedFit:
    """Fit from sufficient statistics.

    ``columns`` (shape ``(p, q)``, of full column rank) makes the fixed effects of fewer columns: row c holds
    the design of every row of cell c. ``None`` stands for cell means.
    """
    with one_thread():
        profile = _Profile(sums, reml, columns)
        start = profile.at(0.0)
        state = profile.untestable(start)
        best = _minimise(profile) if state is None else None
        if best is None:
            return untestable(state or "degenerate", sums.n, profile.rank, reml, profile.base + start.beta)
        df = _satterthwaite(profile, best)
    sigma2 = best.rss / profile.residual_df
    return MixedFit(
        state="ok",
        n=sums.n,
        rank=profile.rank,
        reml=reml,
        beta=profile.base + best.beta,
        covariance=sigma2 * best.inverse,
        df=df,
        sigma2=sigma2,
        tau2=best.ratio * sigma2,
        log_likelihood=-0.5 * best.deviance,
        boundary=best.ratio == 0.0,
    )


def untestable(state: State, n: int, rank: int, reml: bool, beta: NDArray[np.float64]) -> MixedFit:
    """A fit that has estimates and nothing to test them with."""
    return MixedFit(state, n, rank, reml, beta, None, None, None, None, None, False)


@dataclass(frozen=True, slots=True)
class _Point:
    """The profile at one λ: estimates, criterion and what its derivatives are made of."""

    ratio: float
    beta: NDArray[np.float64]
    inverse: NDArray[np.float64]
    rss: float
    deviance: float
    slope: float
    """Derivative of the deviance, σ² profiled out, by λ."""
    first: NDArray[np.float64]
    """-dA/dλ, with A = X' V⁻¹ X at σ² = 1."""
    first_rss: float
    """-dR/dλ, with R the residual sum of squares."""


class _Profile:
    """Deviance as a function of λ, from sufficient statistics.

    A segment's inverse covariance, I - λ / (1 + λ n) 1 1', is what projects on differences within the segment
    plus 1 1' / (n (1 + λ n)): two parts that add up without cancelling, however large λ is.
    """

    def __init__(self, sums: CellSums, reml: bool, columns: NDArray[np.float64] | None) -> None:
        self.sums, self.reml, self.columns = sums, reml, columns
        self.rank = sums.counts.size if columns is None else columns.shape[1]
        self.residual_df = sums.n - (self.rank if reml else 0)
        self.base: NDArray[np.float64] = sums.means
        gram, linear, self._square, totals = sums.gram, sums.linear, sums.square, sums.totals
        if columns is not None:
            # The columns take up what they can of the cells' means; the rest goes back to the values.
            self.base = np.asarray(np.linalg.lstsq(columns, sums.means, rcond=None)[0], dtype=np.float64)
            rest = sums.means - columns @ self.base
            self._square += float(rest @ (2.0 * linear + gram @ rest))
            totals = totals + sums.rows.sums_of(rest)
            linear = columns.T @ (linear + gram @ rest)
            gram = columns.T @ gram @ columns
        self._gram, self._linear = gram, linear
        self._cross_sums = sums.rows.times(totals)
        if columns is not None:
            self._cross_sums = self._cross_sums @ columns
        self._square_sums = np.bincount(sums.rows.group, weights=totals**2)

    def untestable(self, start: _Point) -> State | None:
        """Why nothing can be tested, if so; ``start`` is the point at λ = 0."""
        sums = self.sums
        if sums.n <= self.rank:
            return "too few"
        told_apart = sums.n - float((start.inverse * self.weighted(np.ones_like(sums.sizes))).sum())
        if told_apart <= 1e-10 * sums.n:
            return "too few"
        if start.rss <= ROUNDING**2 * float(sums.counts @ sums.means**2):
            return "degenerate"
        return None

    def weighted(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Σ over segments of weight × N N', in the columns, from one weight a segment size."""
        cross = self.sums.rows.weighted(weights)
        return cross if self.columns is None else self.columns.T @ cross @ self.columns

    def at(self, ratio: float) -> _Point:
        """Evaluate at λ = ``ratio``."""
        from scipy.linalg import cho_factor, cho_solve

        sums = self.sums
        grown = 1.0 + ratio * sums.sizes
        weights, first_weights = 1.0 / (sums.sizes * grown), 1.0 / grown**2
        factor = cho_factor(self._gram + self.weighted(weights), lower=True, check_finite=False)
        linear = self._linear + weights @ self._cross_sums
        beta = cho_solve(factor, linear, check_finite=False)
        inverse = cho_solve(factor, np.eye(self.rank), check_finite=False)
        rss = max(0.0, self._square + float(weights @ self._square_sums) - float(linear @ beta))
        first = self.weighted(first_weights)
        first_rss = self.residual_squares(first_weights, first, beta)
        log_det = float(sums.segments @ np.log(grown))
        slope = float(sums.segments @ (sums.sizes / grown))
        if self.reml:
            log_det += 2.0 * float(np.log(np.diag(factor[0])).sum())
            slope -= float((inverse * first).sum())
        df = self.residual_df
        if rss > 0.0 and df > 0:
            deviance = df * (1.0 + math.log(2.0 * math.pi * rss / df)) + log_det
            slope -= df * first_rss / rss
        else:
            deviance = slope = -math.inf
        return _Point(ratio, beta, inverse, rss, deviance, slope, first, first_rss)

    def residual_squares(
        self, weights: NDArray[np.float64], cross: NDArray[np.float64], beta: NDArray[np.float64]
    ) -> float:
        """Σ over segments of weight × (sum of its residuals)²; ``cross`` is ``weighted(weights)``."""
        return (
            float(weights @ self._square_sums)
            - 2.0 * float((weights @ self._cross_sums) @ beta)
            + float(beta @ cross @ beta)
        )

    def gradient(self, weights: NDArray[np.float64], point: _Point) -> NDArray[np.float64]:
        """Σ over segments of weight × N × (sum of the segment's residuals)."""
        return weights @ self._cross_sums - self.weighted(weights) @ point.beta


def _minimise(profile: _Profile) -> _Point | None:
    """The λ of the lowest deviance: 0, or a root of the derivative between two values of the grid.

    Where the deviance does not depend on λ, because no segment has two rows, it is 0. ``None`` where the
    deviance is no higher at the end of the grid: no residual variance is left, or none that could be told.
    """
    grid = [profile.at(float(ratio)) for ratio in _GRID]
    start, end = grid[0], grid[-1]
    found = [start, end]
    for left, right in pairwise(grid):
        if left.slope < 0.0 <= right.slope:
            found.append(_root(profile, left, right))
    best = min(found, key=lambda point: point.deviance)
    if math.isinf(best.deviance):
        return None
    if start.deviance - best.deviance <= _NO_GAIN * (1.0 + abs(best.deviance)):
        return start
    return None if end.deviance - best.deviance <= _FLAT else best


def _root(profile: _Profile, left: _Point, right: _Point) -> _Point:
    """Where the derivative, negative at ``left``, turns positive."""
    from scipy.optimize import brentq

    # λ itself is the scale from 0 to the first positive value, beyond it its logarithm.
    log = left.ratio > 0.0
    low, high = (math.log(left.ratio), math.log(right.ratio)) if log else (0.0, right.ratio)

    def at(x: float) -> _Point:
        return profile.at(math.exp(x) if log else x)

    if not at(low).slope < 0.0 <= at(high).slope:
        # The slopes are rounding: the ends are as good as anything between.
        return left
    return at(brentq(lambda x: at(x).slope, low, high, xtol=1e-18 if not log else 1e-14, rtol=1e-14))


def _satterthwaite(profile: _Profile, point: _Point) -> NDArray[np.float64]:
    """Degrees of freedom of each effect, shape ``(rank,)``.

    2 f² / (g' C g) with f the variance of an effect, g its gradient by (log σ², log λ) and C twice the
    inverse Hessian of the deviance, all analytic (Kuznetsova et al. 2017, Journal of Statistical Software
    82(13)). At the boundary λ counts as known, as in lmerTest: the residual degrees of freedom are left.
    """
    sums, ratio, df = profile.sums, point.ratio, profile.residual_df
    if ratio == 0.0:
        return np.full(profile.rank, float(df))
    sigma2 = point.rss / df
    grown = 1.0 + ratio * sums.sizes
    first_weights, second_weights = 1.0 / grown**2, -2.0 * sums.sizes / grown**3
    second = profile.weighted(second_weights)
    pull = profile.gradient(first_weights, point)
    second_rss = -profile.residual_squares(second_weights, second, point.beta)
    second_rss -= 2.0 * float(pull @ point.inverse @ pull)
    second_log_det = -float(sums.segments @ (sums.sizes / grown) ** 2)
    if profile.reml:
        product = point.inverse @ point.first
        second_log_det -= float((product * product.T).sum()) + float((point.inverse * second).sum())
    mixed = ratio * point.first_rss / sigma2
    hessian = np.array([[df, mixed], [mixed, ratio**2 * (second_log_det + second_rss / sigma2)]])
    # In units of σ², as is the variance itself.
    variance = np.diag(point.inverse)
    slope = np.einsum("ij,ji->i", point.inverse @ point.first, point.inverse)
    gradient = np.stack([variance, ratio * slope])
    spread = 2.0 * np.einsum("ij,ij->j", gradient, np.linalg.solve(hessian, gradient))
    return 2.0 * variance**2 / spread
