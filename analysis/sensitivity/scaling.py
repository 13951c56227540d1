"""Standardisation of deltas: how the numbers of metrics with different units are put side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from challenge_sets import Kind

K = TypeVar("K")

_BASES: tuple[tuple[Kind, ...], ...] = (("error", "variation"), ("control",))


class Standardization(StrEnum):
    """What a table's means are expressed in."""

    SCALE = "scale"
    """SDs pooled within categories, not centred: zero means no reaction."""
    ZSCORE = "zscore"
    """Z-scores over all pairs: zero means the metric's own average reaction (Quinjica et al. 2026)."""
    RAW = "raw"
    """The metric's own unit."""
    SPREAD = "spread"
    """SDs of the metric's scores over the original outputs, not centred: a reaction as a ranking sees it."""


@dataclass(frozen=True, slots=True)
class Scaling:
    """One metric's linear map: standardised = (delta - ``centre``) / ``divisor``.

    ``within_sd`` is the SD pooled within categories, in metric units, and ``basis`` the kinds of pair
    that centre and SD come from. ``divisor`` and ``within_sd`` are ``None`` where the deltas do not
    vary: then nothing can be standardised.
    """

    method: Standardization
    centre: float
    divisor: float | None
    within_sd: float | None
    basis: tuple[Kind, ...]

    def mean(self, value: float) -> float | None:
        """A mean delta in metric units, standardised."""
        return None if self.divisor is None else (value - self.centre) / self.divisor

    def spread(self, value: float) -> float | None:
        """A standard error or another length in metric units, standardised."""
        return None if self.divisor is None else value / self.divisor

    def margin(self, in_sd: float, in_units: float | None) -> float | None:
        """The equivalence margin in the table's unit, from a number of SDs or one in metric units."""
        if in_units is not None:
            return self.spread(in_units)
        if self.method is not Standardization.RAW:
            return in_sd
        return None if self.within_sd is None else in_sd * self.within_sd


def pooled_within_sd(groups: Iterable[NDArray[np.float64]], *, noise: float = 0.0) -> float | None:
    """SD of deltas around their own category's mean: sqrt(Σ (n_c - 1) s_c² / Σ (n_c - 1)).

    ``groups`` holds one array of shape ``(n_c,)`` a category. ``None`` where no category has two
    values, or where the SD is at most ``noise``.
    """
    squares, df = 0.0, 0
    for group in groups:
        if group.size > 1:
            squares += float(((group - group.mean()) ** 2).sum())
            df += int(group.size) - 1
    sd = math.sqrt(squares / df) if df else 0.0
    return sd if sd > noise else None


def choose_scaling(
    method: Standardization,
    deltas: Mapping[tuple[Kind, K], NDArray[np.float64]],
    *,
    noise: float = 0.0,
    original_sd: float | None = None,
) -> Scaling:
    """Find one metric's scaling from its deltas per (kind, category), in metric units.

    ``original_sd`` is the SD of its scores over the original outputs, for ``spread``. Centre and SDs come
    from errors and variations; from controls only where there is nothing else that varies (a shuffled or an
    empty copy would otherwise set the scale for everything).
    """
    basis, within = _first(deltas, lambda groups: pooled_within_sd(groups, noise=noise))
    if method is Standardization.RAW:
        return Scaling(method, 0.0, 1.0, within, basis)
    if method is Standardization.SCALE:
        return Scaling(method, 0.0, within, within, basis)
    if method is Standardization.SPREAD:
        return Scaling(method, 0.0, original_sd, within, basis)
    basis, total = _first(deltas, lambda groups: _total_sd(groups, noise))
    values = np.concatenate([np.empty(0), *_of(deltas, basis)])
    centre = float(values.mean()) if values.size else 0.0
    return Scaling(method, centre, total, within, basis)


def _first(
    deltas: Mapping[tuple[Kind, K], NDArray[np.float64]],
    sd: Callable[[list[NDArray[np.float64]]], float | None],
) -> tuple[tuple[Kind, ...], float | None]:
    """The SD of errors and variations with those kinds; that of the controls where the first do not vary."""
    for basis in _BASES:
        found = sd(_of(deltas, basis))
        if found is not None:
            return basis, found
    return _BASES[0], None


def _total_sd(groups: list[NDArray[np.float64]], noise: float) -> float | None:
    values = np.concatenate([np.empty(0), *groups])
    sd = float(values.std(ddof=1)) if values.size > 1 else 0.0
    return sd if sd > noise else None


def _of(
    deltas: Mapping[tuple[Kind, K], NDArray[np.float64]], kinds: tuple[Kind, ...]
) -> list[NDArray[np.float64]]:
    return [values for (kind, _), values in deltas.items() if kind in kinds]
