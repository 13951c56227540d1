"""The same model fitted by statsmodels, as a second opinion on ``exact``."""

from __future__ import annotations

import math
import warnings

import numpy as np
from numpy.typing import NDArray

from analysis.mixed.exact import MixedFit, untestable

BOUNDARY = 1e-8
"""Variance between segments, relative to the residual variance, that counts as 0."""


def fit_statsmodels(
    values: NDArray[np.float64],
    cells: NDArray[np.intp],
    segments: NDArray[np.intp],
    *,
    reml: bool = True,
    columns: NDArray[np.float64] | None = None,
) -> MixedFit:
    """MixedLM with Powell's method on one thread; arguments as of ``cell_sums`` and ``fit_sums``.

    Of its optimisers Powell's is the one that is right where the variance is near 0; more threads make it
    slower. Its standard errors invert the full Hessian and lie up to 0.1 % above those of ``exact``; it knows
    no degrees of freedom (``df`` is ``None``: the normal distribution). Its own warning of a boundary is
    absolute and fires on scores between 0 and 1: here the ratio of the variances decides.
    """
    from statsmodels.regression.mixed_linear_model import MixedLM
    from threadpoolctl import threadpool_limits

    table = np.eye(int(cells.max()) + 1) if columns is None else columns
    design = table[cells]
    n, rank = design.shape
    beta = np.asarray(np.linalg.lstsq(design, values, rcond=None)[0], dtype=np.float64)
    if n <= rank:
        return untestable("too few", n, rank, reml, beta)
    residual = values - design @ beta
    scale = math.sqrt(float(residual @ residual) / (n - rank))
    if scale <= 1e-10 * float(np.abs(values).max()):
        return untestable("degenerate", n, rank, reml, beta)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = MixedLM(values / scale, design, groups=segments).fit(reml=reml, method="powell")
    ratio = float(found.cov_re[0, 0]) / float(found.scale)
    boundary = ratio < BOUNDARY
    covariance = np.asarray(found.cov_params())[:rank, :rank]
    if boundary:
        # Its Hessian by the vanishing variance spoils the other standard errors: take least squares'.
        covariance = float(found.scale) * np.linalg.inv(design.T @ design)
    shift = (n - rank if reml else n) * math.log(scale)
    return MixedFit(
        state="ok",
        n=n,
        rank=rank,
        reml=reml,
        beta=np.asarray(found.fe_params) * scale,
        covariance=covariance * scale**2,
        df=None,
        sigma2=float(found.scale) * scale**2,
        tau2=0.0 if boundary else float(found.cov_re[0, 0]) * scale**2,
        log_likelihood=float(found.llf) - shift,
        boundary=boundary,
    )
