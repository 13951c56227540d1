"""The same model fitted by statsmodels, as a second opinion on ``exact``."""

from __future__ import annotations

import math
import warnings

import numpy as np
from numpy.typing import NDArray

from analysis.mixed.exact import MixedFit, fit_sums
from analysis.mixed.sufficient import cell_sums
from challenge_sets import InputError

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
    slower. Its standard errors invert the full Hessian: they lie up to 0.1 % above those of ``exact``, and
    some per cent with a handful of segments. It knows no degrees of freedom (``df`` is ``None``: the normal
    distribution). Its own warning of a boundary is absolute and fires on scores between 0 and 1: here the
    ratio of the variances decides. ``InputError`` where it does not converge.
    """
    from statsmodels.regression.mixed_linear_model import MixedLM
    from threadpoolctl import threadpool_limits

    sums = cell_sums(values, cells, segments)
    # Powell's method does not notice that there is nothing to find.
    exact = fit_sums(sums, reml=reml, columns=columns)
    if exact.state != "ok":
        return exact
    table = np.eye(sums.counts.size) if columns is None else columns
    base = np.linalg.lstsq(table, sums.means, rcond=None)[0]
    design = table[cells]
    n, rank = design.shape
    residuals = values - design @ base
    scale = math.sqrt(float(residuals @ residuals) / (n - rank))
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = MixedLM(residuals / scale, design, groups=segments).fit(reml=reml, method="powell")
        except np.linalg.LinAlgError:
            found = None
    if found is None or not found.converged:
        raise InputError("statsmodels could not fit the model", hint="take --engine exact")
    sigma2, tau2 = float(found.scale), float(found.cov_re[0, 0])
    covariance = np.asarray(found.cov_params())[:rank, :rank]
    if sums.sizes[-1] == 1.0:
        # With one row a segment only the sum of the variances can be known.
        sigma2, tau2 = sigma2 + tau2, 0.0
    boundary = tau2 < BOUNDARY * sigma2
    if boundary:
        # Its Hessian by the vanishing variance spoils the other standard errors: take least squares'.
        covariance = sigma2 * np.linalg.inv(design.T @ design)
    shift = (n - rank if reml else n) * math.log(scale)
    return MixedFit(
        state="ok",
        n=n,
        rank=rank,
        reml=reml,
        beta=base + np.asarray(found.fe_params) * scale,
        covariance=covariance * scale**2,
        df=None,
        sigma2=sigma2 * scale**2,
        tau2=0.0 if boundary else tau2 * scale**2,
        log_likelihood=float(found.llf) - shift,
        boundary=boundary,
    )
