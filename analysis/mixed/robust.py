"""Cell means by least squares with standard errors robust to clustering by segment, all cells at once.

Segments are shared between cells, so that the means of two cells are correlated: a test across cells needs
the whole covariance, not the cells' own standard errors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.mixed.design import cross_cells, effects, independent
from analysis.mixed.threads import one_thread
from analysis.statistics.estimates import ROUNDING, Correction
from analysis.statistics.significance import log10_f_sf


@dataclass(frozen=True, slots=True)
class RobustWald:
    """An F test with its degrees of freedom and log10 p-value; ``None`` and a ``reason`` where untestable."""

    f: float | None
    df1: float | None
    df2: float | None
    log10_p: float | None
    reason: str = ""


def robust_cell_means(
    values: NDArray[np.float64],
    cells: NDArray[np.intp],
    segments: NDArray[np.intp],
    *,
    correction: Correction = "CR2",
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means ``(p,)`` and their covariance ``(p, p)`` for rows of shape ``(n,)`` in cells numbered from 0.

    The sandwich with G segments: CR0; CR1, times G / (G - 1); CR2, each segment's residuals in a cell divided
    by sqrt(1 - share of the cell's rows), the closed form of Bell and McCaffrey's correction for cell means
    under a working model of independence (Pustejovsky and Tipton 2018, section 2). On the diagonal CR2 is
    ``cluster_mean``'s. A cell within one segment has an infinite CR2 variance; CR1's are infinite where there
    is no second segment.
    """
    from scipy.sparse import coo_array

    _, codes = np.unique(segments, return_inverse=True)
    groups, p = int(codes.max()) + 1, int(cells.max()) + 1
    counts = np.bincount(cells, minlength=p).astype(np.float64)
    # Around the mean, so that the size of the values costs no digits.
    shift = float(values.mean())
    centred = values - shift
    means = np.bincount(cells, weights=centred, minlength=p) / counts
    places = (codes, cells)
    # Duplicates are summed: residuals and rows of each segment in each cell.
    scores = coo_array((centred - means[cells], places), shape=(groups, p)).tocsr()
    if correction == "CR2":
        rows = coo_array((np.ones(values.size), places), shape=(groups, p)).tocsr()
        share = rows.data / counts[rows.indices]
        with np.errstate(divide="ignore", invalid="ignore"):
            scores.data = scores.data / np.sqrt(1.0 - share)
        scores.data[share >= 1.0] = np.inf
    covariance = (scores.T @ scores).toarray() / np.outer(counts, counts)
    if correction == "CR1":
        covariance = covariance * (groups / (groups - 1)) if groups > 1 else np.full((p, p), np.inf)
    return means + shift, covariance


def interaction_wald(
    values: NDArray[np.float64],
    conditions: NDArray[np.intp],
    metrics: NDArray[np.intp],
    segments: NDArray[np.intp],
) -> RobustWald:
    """Wald's test of condition × metric with the CR2 covariance of the cell means; arrays of shape ``(n,)``.

    The approximate Hotelling test (HTZ) of Pustejovsky and Tipton 2018, section 3.2: with q contrasts and Q
    Wald's statistic, F = Q (η - q + 1) / (η q) with q and η - q + 1 degrees of freedom, η from the variance
    of the covariance estimate under a working model of independence. Referring Q to chi-square, as is
    common, rejects far too often once q is a sizeable part of the segments. Not tested where η ≤ q - 1, or
    where contrasts do not vary between segments.
    """
    with one_thread():
        return _interaction_wald(values, conditions, metrics, segments)


def _interaction_wald(
    values: NDArray[np.float64],
    conditions: NDArray[np.intp],
    metrics: NDArray[np.intp],
    segments: NDArray[np.intp],
) -> RobustWald:
    cells = cross_cells([conditions, metrics])
    additive = independent(effects(cells.levels, (0,), (1,)))
    # Contrasts that every additive pattern of the cells leaves at zero.
    contrasts = np.linalg.qr(additive, mode="complete")[0][:, additive.shape[1] :].T
    q = contrasts.shape[0]
    if q == 0:
        return _untested("no effect is left to test: too few levels or cells")
    means, covariance = robust_cell_means(values, cells.codes, segments)
    if not np.isfinite(covariance).all():
        return _untested("a cell has rows from one segment only")
    difference, spread = contrasts @ means, contrasts @ covariance @ contrasts.T
    eigenvalues = np.linalg.eigvalsh(spread)
    if eigenvalues[0] <= q * ROUNDING * eigenvalues[-1]:
        return _untested("some contrasts do not vary between segments, or there are too few of these")
    eta = wishart_df(cells.codes, segments, contrasts)
    df2 = eta - q + 1.0
    if df2 <= 0.0:
        return _untested(f"{q} contrasts and too few segments")
    f = float(difference @ np.linalg.solve(spread, difference)) * df2 / (eta * q)
    return RobustWald(f, float(q), df2, log10_f_sf(f, q, df2))


def wishart_df(cells: NDArray[np.intp], segments: NDArray[np.intp], contrasts: NDArray[np.float64]) -> float:
    """Degrees of freedom η of the Wishart distribution that the CR2 covariance of ``contrasts`` resembles.

    ``contrasts`` has shape (q, p). q (q + 1) over the summed variances of the elements of the standardised
    covariance estimate (Pustejovsky and Tipton 2018, section 3.2). For cell means every sum over pairs of
    segments is a product of p × p matrices, so that nothing grows with the square of the segments. With one
    cell it is ``cluster_mean``'s.
    """
    from scipy.sparse import coo_array

    _, codes = np.unique(segments, return_inverse=True)
    shape = (int(codes.max()) + 1, int(cells.max()) + 1)
    rows = coo_array((np.ones(cells.size), (codes, cells)), shape=shape).tocsr()
    counts = np.bincount(cells, minlength=shape[1]).astype(np.float64)
    # A segment's adjusted weight in a cell: m / sqrt(n (1 - m / n)).
    weights = rows.copy()
    weights.data = rows.data / np.sqrt(counts[rows.indices] - rows.data)
    between = (weights.T @ weights).toarray()
    squares = weights.multiply(weights).tocsr()
    moments = between**2 - (squares.T @ squares).toarray() + (rows.T @ rows).toarray()
    scaled = contrasts / counts
    omega = scaled @ contrasts.T
    projection = scaled.T @ np.linalg.solve(omega, scaled)
    diagonal = np.diag(projection)
    q = contrasts.shape[0]
    return float(q * (q + 1) / ((np.outer(diagonal, diagonal) + projection**2) * moments).sum())


def _untested(reason: str) -> RobustWald:
    return RobustWald(None, None, None, None, reason)
