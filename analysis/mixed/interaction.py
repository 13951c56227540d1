"""Tests of nested models over the same cells: the likelihood ratio and Wald's, both by chi-square."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.mixed.design import Cells, cross_cells, effects, independent
from analysis.mixed.exact import MixedFit, State, fit_sums
from analysis.mixed.sufficient import CellSums, cell_sums
from analysis.mixed.threads import one_thread
from analysis.statistics.significance import log10_chi2_sf

Fitter = Callable[[NDArray[np.float64] | None, bool], MixedFit]
"""Fits the same rows with the columns given (``None``: cell means), by REML where true, else by ML."""


_REASONS: dict[State, str] = {
    "too few": "too few rows, or rows of too few segments, for the effects",
    "degenerate": "no variance is left to test with",
}


@dataclass(frozen=True, slots=True)
class ChiSquare:
    """A test statistic with its degrees of freedom and log10 p-value."""

    chi2: float
    df: int
    log10_p: float


@dataclass(frozen=True, slots=True)
class Interaction:
    """Both tests of an interaction; ``None`` and a ``reason`` where it cannot be tested.

    ``lr`` compares two ML fits. ``wald`` tests the interaction's effects with the covariance of one fit. They
    answer the same question and may differ a lot.
    """

    lr: ChiSquare | None
    wald: ChiSquare | None
    reason: str = ""


def exact_fitter(sums: CellSums) -> Fitter:
    """Fits by ``analysis.mixed.exact`` from sums over the cells."""
    return lambda columns, reml: fit_sums(sums, reml=reml, columns=columns)


def interaction_tests(
    values: NDArray[np.float64],
    conditions: NDArray[np.intp],
    metrics: NDArray[np.intp],
    segments: NDArray[np.intp],
    *,
    reml: bool = True,
) -> Interaction:
    """Test condition × metric in values ~ condition × metric + (1 | segment); all arrays of shape ``(n,)``.

    ``reml`` chooses the fit that Wald's test speaks of.
    """
    cells = cross_cells([conditions, metrics])
    fit = exact_fitter(cell_sums(values, cells.codes, segments))
    return compare(fit, effects(cells.levels, (0,), (1,)), None, reml=reml)


def factor_tests(
    values: NDArray[np.float64],
    conditions: NDArray[np.intp],
    metrics: NDArray[np.intp],
    factor: NDArray[np.intp],
    segments: NDArray[np.intp],
    *,
    reml: bool = True,
    fitter: Callable[[Cells], Fitter] | None = None,
) -> Interaction:
    """Test metric × factor in values ~ condition × metric + metric × factor + (1 | segment).

    The factor is a period, a domain, a target language; with M metrics and F levels there are (M - 1)(F - 1)
    degrees of freedom. All arrays have shape ``(n,)``. ``fitter`` makes another engine's fits over cells.
    Source: Quinjica et al. 2026, the test of metric × period.
    """
    cells = cross_cells([conditions, metrics, factor])
    fit = exact_fitter(cell_sums(values, cells.codes, segments)) if fitter is None else fitter(cells)
    reduced = effects(cells.levels, (0, 1), (2,))
    return compare(fit, reduced, effects(cells.levels, (0, 1), (1, 2)), reml=reml)


def compare(
    fit: Fitter,
    reduced: NDArray[np.float64],
    full: NDArray[np.float64] | None,
    *,
    reml: bool,
) -> Interaction:
    """Test the columns of ``full`` (shape ``(p, ·)``; ``None``: all cells) beyond those of ``reduced``.

    Degrees of freedom come from the ranks, so that missing cells are allowed for.
    """
    with one_thread():
        base = independent(reduced)
        extra = independent(np.eye(base.shape[0]) if full is None else full, beside=base)
    df = extra.shape[1]
    if df == 0:
        return Interaction(None, None, "no effect is left to test: too few levels or cells")
    joined = np.column_stack([base, extra])
    small, large, tested = fit(base, False), fit(joined, False), fit(joined, reml)
    if small.log_likelihood is None or large.log_likelihood is None or tested.covariance is None:
        states = {small.state, large.state, tested.state}
        return Interaction(None, None, _REASONS["too few" if "too few" in states else "degenerate"])
    # Rounding may put the larger model a hair below the smaller.
    ratio = max(0.0, 2.0 * (large.log_likelihood - small.log_likelihood))
    beta, covariance = tested.beta[-df:], tested.covariance[-df:, -df:]
    with one_thread():
        wald = float(beta @ np.linalg.solve(covariance, beta))
    return Interaction(
        ChiSquare(ratio, df, log10_chi2_sf(ratio, df)), ChiSquare(wald, df, log10_chi2_sf(wald, df))
    )
