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

State = Literal["ok", "degenerate", "too few"]

_GRID = np.concatenate([[0.0], np.logspace(-6.0, 6.0, 13)])
"""Values of λ between which the derivative's roots are looked for."""
_NO_GAIN = 1e-12
"""A deviance lower by this share is not lower."""


@dataclass(frozen=True, slots=True)
class MixedFit:
    """A fitted model of p fixed effects; ``beta`` and ``covariance`` are in the unit of the values.

    ``state`` is ``ok``; ``degenerate`` (the values do not vary within cells: no variance to test with); or
    ``too few`` (no more rows than effects). Without a test ``beta`` holds the least-squares estimates and
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

    ``columns`` (shape ``(p, q)``, of full column rank, the constant within its span) makes the fixed effects
    of fewer columns: row c holds the design of every row of cell c. ``None`` stands for cell means.
    """
    profile = _Profile(sums, reml, columns)
    if profile.residual_df <= 0:
        return untestable("too few", sums.n, profile.rank, reml, profile.ordinary())
    if profile.at(0.0).rss <= 1e-20 * max(sums.square, sums.n * sums.shift**2):
        return untestable("degenerate", sums.n, profile.rank, reml, profile.ordinary())
    best = _minimise(profile)
    if best.rss <= 1e-14 * profile.at(0.0).rss:
        # All variation lies between segments: no residual variance is left.
        return untestable("degenerate", sums.n, profile.rank, reml, profile.ordinary())
    sigma2 = best.rss / profile.residual_df
    covariance = sigma2 * best.inverse
    return MixedFit(
        state="ok",
        n=sums.n,
        rank=profile.rank,
        reml=reml,
        beta=profile.in_units(best.beta),
        covariance=covariance,
        df=_satterthwaite(profile, best, np.eye(profile.rank)),
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
    """Deviance as a function of λ, from sufficient statistics."""

    def __init__(self, sums: CellSums, reml: bool, columns: NDArray[np.float64] | None) -> None:
        self.sums, self.reml = sums, reml
        self.columns = columns
        p = sums.counts.size
        self.rank = p if columns is None else columns.shape[1]
        self.residual_df = sums.n - (self.rank if reml else 0)
        gram, linear = np.diag(sums.counts), sums.sums
        cross, cross_sums = sums.cross, sums.cross_sums
        if columns is not None:
            gram, linear = columns.T @ gram @ columns, columns.T @ linear
            cross, cross_sums = columns.T @ cross @ columns, cross_sums @ columns
        self._gram, self._linear = gram, linear
        self._cross, self._cross_sums = cross.reshape(sums.sizes.size, -1), cross_sums

    def in_units(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Undo the shift of the values, which lies in the span of the columns."""
        if self.columns is None:
            return beta + self.sums.shift
        constant = np.linalg.lstsq(self.columns, np.ones(self.columns.shape[0]), rcond=None)[0]
        return beta + self.sums.shift * constant

    def ordinary(self) -> NDArray[np.float64]:
        """The least-squares estimates, in the unit of the values."""
        return self.in_units(self.at(0.0).beta)

    def weighted(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Σ over segments of weight × N N', from one weight a segment size."""
        return (weights @ self._cross).reshape(self.rank, self.rank)

    def at(self, ratio: float) -> _Point:
        """Evaluate at λ = ``ratio``."""
        from scipy.linalg import cho_factor, cho_solve

        sums = self.sums
        grown = 1.0 + ratio * sums.sizes
        weights, first_weights = ratio / grown, 1.0 / grown**2
        factor = cho_factor(self._gram - self.weighted(weights), lower=True, check_finite=False)
        linear = self._linear - weights @ self._cross_sums
        beta = cho_solve(factor, linear, check_finite=False)
        inverse = cho_solve(factor, np.eye(self.rank), check_finite=False)
        rss = max(0.0, sums.square - float(weights @ sums.square_sums) - float(linear @ beta))
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
            deviance = -math.inf
        return _Point(ratio, beta, inverse, rss, deviance, slope, first, first_rss)

    def residual_squares(
        self, weights: NDArray[np.float64], cross: NDArray[np.float64], beta: NDArray[np.float64]
    ) -> float:
        """Σ over segments of weight × (sum of its residuals)²; ``cross`` is ``weighted(weights)``."""
        return (
            float(weights @ self.sums.square_sums)
            - 2.0 * float((weights @ self._cross_sums) @ beta)
            + float(beta @ cross @ beta)
        )

    def gradient(self, weights: NDArray[np.float64], point: _Point) -> NDArray[np.float64]:
        """Σ over segments of weight × N × (sum of the segment's residuals)."""
        return weights @ self._cross_sums - self.weighted(weights) @ point.beta


def _minimise(profile: _Profile) -> _Point:
    """The λ of the lowest deviance: 0, or a root of the derivative between two values of the grid.

    Where the deviance does not depend on λ, because no segment has two rows or the cells leave nothing of the
    segments, it is 0.
    """
    grid = [profile.at(float(ratio)) for ratio in _GRID]
    found = [grid[0]]
    for left, right in pairwise(grid):
        if left.slope < 0.0 <= right.slope:
            found.append(_root(profile, left, right))
    if grid[-1].slope < 0.0:
        found.append(grid[-1])
    best = min(found, key=lambda point: point.deviance)
    gain = grid[0].deviance - best.deviance
    return best if gain > _NO_GAIN * (1.0 + abs(best.deviance)) else grid[0]


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


def _satterthwaite(profile: _Profile, point: _Point, contrasts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Degrees of freedom of the rows of ``contrasts`` (shape ``(k, rank)``).

    2 f² / (g' C g) with f the variance of a contrast, g its gradient by (σ², λ) and C twice the inverse
    Hessian of the deviance, all analytic (Kuznetsova et al. 2017, Journal of Statistical Software 82(13)). At
    the boundary λ counts as known, as in lmerTest: the residual degrees of freedom are left.
    """
    sums, ratio = profile.sums, point.ratio
    df = profile.residual_df
    sigma2 = point.rss / df
    spread = contrasts @ point.inverse
    q = np.einsum("ij,ij->i", spread, contrasts)
    if ratio == 0.0:
        return np.full(q.size, float(df))
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
    hessian = np.array(
        [
            [df / sigma2**2, point.first_rss / sigma2**2],
            [point.first_rss / sigma2**2, second_log_det + second_rss / sigma2],
        ]
    )
    slope_q = np.einsum("ij,jk,ik->i", spread, point.first, spread)
    gradient = np.stack([q, sigma2 * slope_q])
    variance = 2.0 * np.einsum("ij,ij->j", gradient, np.linalg.solve(hessian, gradient))
    return 2.0 * (sigma2 * q) ** 2 / variance
