"""How a sensitivity table is made."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from analysis.sensitivity.scaling import Standardization
from analysis.statistics.significance import benjamini_hochberg, holm
from challenge_sets import InputError

DEFAULT_MARGIN_SD = 0.2


class Model(StrEnum):
    """Where the standard error of a cell comes from."""

    CELLS = "cells"
    """Each cell for itself, robust to several pairs from one segment (CR2)."""
    JOINT = "joint"
    """One mixed model of all metrics, delta ~ category × metric + (1 | segment), with one error variance."""
    PER_METRIC = "per-metric"
    """One mixed model a metric, delta ~ category + (1 | segment): the published table's standard errors."""


class Correction(StrEnum):
    """How the p-values of a family are adjusted."""

    HOLM = "holm"
    """No error in the whole family, at the level alpha."""
    BH = "bh"
    """Benjamini-Hochberg: a share of false discoveries of at most alpha."""

    @property
    def adjust(self) -> Callable[[Sequence[float | None]], list[float | None]]:
        """The function from log10 p-values to adjusted ones."""
        return holm if self is Correction.HOLM else benjamini_hochberg

    @property
    def name_in_tables(self) -> str:
        """The name that stands in tables."""
        return "Holm" if self is Correction.HOLM else "Benjamini-Hochberg"


@dataclass(frozen=True, slots=True)
class SensitivityOptions:
    """How the table is made. ``margin_sd`` is in SDs, ``margin`` in metric units and only with ``raw``.

    ``bootstrap_t`` lets cells whose t-test is unreliable go by the bootstrap-t instead, drawn with ``seed``.
    Raises ``InputError`` where a value is out of its range or the two margins contradict each other.
    """

    standardize: Standardization = Standardization.SCALE
    margin_sd: float | None = None
    margin: float | None = None
    alpha: float = 0.05
    model: Model = Model.CELLS
    correction: Correction = Correction.HOLM
    bootstrap_t: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.0 < self.alpha < 0.5:
            raise InputError(f"alpha is {self.alpha:g}, it lies between 0 and 0.5")
        for name, value in (("--margin-sd", self.margin_sd), ("--margin", self.margin)):
            if value is not None and not (math.isfinite(value) and value > 0):
                raise InputError(f"{name} is {value:g}, an equivalence margin is a positive number")
        if self.margin is not None:
            if self.standardize is not Standardization.RAW:
                raise InputError(
                    f"--margin is in metric units, the table under '{self.standardize}' is in SDs",
                    hint="give --margin-sd, or --standardize raw",
                )
            if self.margin_sd is not None:
                raise InputError("--margin and --margin-sd are two margins: give one")
        if self.seed < 0:
            raise InputError(f"--seed is {self.seed}, it is 0 or more")

    @property
    def margin_in_sd(self) -> float:
        """The margin in SDs, where none was given in metric units."""
        return DEFAULT_MARGIN_SD if self.margin_sd is None else self.margin_sd
