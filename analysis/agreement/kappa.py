"""Cohen's kappa of two annotators, from their labels or from counts of valid and invalid items."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from analysis.statistics.estimates import ROUNDING
from analysis.statistics.resampling import percentile_interval
from challenge_sets import InputError

State = Literal["ok", "no variance", "undefined", "no data"]

MEANINGS: dict[State, str] = {
    "ok": "",
    "no variance": "the estimated variance is 0 (full agreement, or nothing else), so there is no interval",
    "undefined": "both annotators gave one and the same label throughout: expected agreement is 1, no kappa",
    "no data": "no item has both labels",
}


@dataclass(frozen=True, slots=True)
class BinaryCounts:
    """Items that each of two annotators called valid, as Quinjica et al. 2026 print them (Table 7).

    Raises ``InputError`` unless n = valid1 + valid2 - both_valid + both_invalid can be a count of items.
    """

    n: int
    valid1: int
    valid2: int
    both_valid: int
    both_invalid: int

    def __post_init__(self) -> None:
        counts = (self.n, self.valid1, self.valid2, self.both_valid, self.both_invalid)
        if min(counts) < 0:
            raise InputError(f"a count is negative: {min(counts)}")
        for name, valid in (("first", self.valid1), ("second", self.valid2)):
            if self.both_valid > valid:
                raise InputError(
                    f"{self.both_valid} items are valid for both annotators, "
                    f"but only {valid} for the {name} one"
                )
        total = self.valid1 + self.valid2 - self.both_valid + self.both_invalid
        if total != self.n:
            raise InputError(
                f"the counts do not add up: {self.valid1} + {self.valid2} - {self.both_valid} valid for "
                f"either, and {self.both_invalid} for neither, make {total} items, not {self.n}",
                hint="the order is N,A1,A2,BOTH,NEITHER: items, valid for the first, for the second, "
                "for both, for neither",
            )

    def table(self) -> NDArray[np.int64]:
        """Shape ``(2, 2)``: rows the first annotator, columns the second; valid, then invalid."""
        return np.array(
            [
                [self.both_valid, self.valid1 - self.both_valid],
                [self.valid2 - self.both_valid, self.both_invalid],
            ],
            dtype=np.int64,
        )


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa: 1 is full agreement, 0 what chance would give, below 0 less than that.

    ``table[i][j]`` counts the items with ``labels[i]`` by the first annotator and ``labels[j]`` by the
    second; ``missing`` items lack one label or both and are in none of it. ``interval`` is asymptotic,
    ``bootstrap_interval`` resamples items; ``undefined_resamples`` had no kappa and are left out of it.
    """

    labels: tuple[str, ...]
    table: tuple[tuple[int, ...], ...]
    n: int
    missing: int
    observed: float | None
    expected: float | None
    kappa: float | None
    se: float | None
    interval: tuple[float, float] | None
    bootstrap_interval: tuple[float, float] | None
    undefined_resamples: int
    state: State
    confidence: float
    resamples: int
    seed: int


def kappa_from_counts(
    counts: BinaryCounts, *, resamples: int = 0, seed: int = 0, confidence: float = 0.95
) -> Kappa:
    """Cohen's kappa of two annotators who called items valid or invalid; see ``kappa_of_table``."""
    return kappa_of_table(
        counts.table(), ("valid", "invalid"), resamples=resamples, seed=seed, confidence=confidence
    )


def kappa_from_labels(
    first: Sequence[str | None],
    second: Sequence[str | None],
    *,
    resamples: int = 0,
    seed: int = 0,
    confidence: float = 0.95,
) -> Kappa:
    """Cohen's kappa from two annotators' labels of the same items, shape ``(n,)`` each, in one order.

    ``None`` is a missing label: its item is counted as missing and left out. See ``kappa_of_table``.
    """
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    labels = tuple(sorted({label for pair in pairs for label in pair}))
    place = {label: number for number, label in enumerate(labels)}
    table = np.zeros((len(labels), len(labels)), dtype=np.int64)
    for a, b in pairs:
        table[place[a], place[b]] += 1
    return kappa_of_table(
        table,
        labels,
        missing=len(first) - len(pairs),
        resamples=resamples,
        seed=seed,
        confidence=confidence,
    )


def kappa_of_table(
    table: NDArray[np.int64],
    labels: tuple[str, ...],
    *,
    missing: int = 0,
    resamples: int = 0,
    seed: int = 0,
    confidence: float = 0.95,
) -> Kappa:
    """Cohen's kappa of a cross table (shape ``(k, k)``, rows the first annotator), with its intervals.

    Source: Cohen 1960, Educational and Psychological Measurement 20(1); the large-sample standard error is
    that of Fleiss, Cohen and Everitt 1969, Psychological Bulletin 72(5). The asymptotic interval is
    kappa ± z SE, cut at -1 and 1. With ``resamples`` a percentile interval is made beside it: items
    drawn with replacement are multinomial counts of the table's cells.
    """
    n = int(table.sum())
    observed = expected = kappa = se = interval = bootstrap = None
    undefined = 0
    state: State = "no data"
    if n:
        shares = table / n
        rows, columns = shares.sum(axis=1), shares.sum(axis=0)
        observed, expected = float(np.trace(table)) / n, float(rows @ columns)
        state = "undefined"
        if table.max() < n or observed < 1.0:
            kappa = float(_kappas(table[None])[0])
            spread = _asymptotic_variance(shares, kappa, expected)
            state = "no variance"
            if spread > ROUNDING:
                state = "ok"
                se = math.sqrt(spread / n)
                interval = _normal_interval(kappa, se, confidence)
                if resamples:
                    draws = np.random.default_rng(seed).multinomial(n, shares.ravel(), size=resamples)
                    values = _kappas(draws.reshape(-1, *table.shape))
                    bootstrap = percentile_interval(values, confidence)
                    undefined = int(np.isnan(values).sum())
    return Kappa(
        labels=labels,
        table=tuple(tuple(int(count) for count in row) for row in table),
        n=n,
        missing=missing,
        observed=observed,
        expected=expected,
        kappa=kappa,
        se=se,
        interval=interval,
        bootstrap_interval=bootstrap,
        undefined_resamples=undefined,
        state=state,
        confidence=confidence,
        resamples=resamples,
        seed=seed,
    )


def _kappas(tables: NDArray[np.int64]) -> NDArray[np.float64]:
    """Kappa of each table of a stack, shape ``(B, k, k)``, in whole numbers up to the division; NaN: none."""
    n = tables.sum(axis=(1, 2))
    agreed = np.trace(tables, axis1=1, axis2=2) * n
    by_chance = (tables.sum(axis=2) * tables.sum(axis=1)).sum(axis=1)
    left = n * n - by_chance
    return np.where(left > 0, agreed - by_chance, np.nan) / np.where(left > 0, left, 1)


def _asymptotic_variance(shares: NDArray[np.float64], kappa: float, expected: float) -> float:
    """n times the large-sample variance of kappa."""
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    diagonal = np.diag(shares)
    agreeing = float((diagonal * (1.0 - (rows + columns) * (1.0 - kappa)) ** 2).sum())
    # p_ij is weighted by the share of label i from the second annotator and of label j from the first.
    crossed = shares * (columns[:, None] + rows[None, :]) ** 2
    disagreeing = (1.0 - kappa) ** 2 * float(crossed.sum() - np.trace(crossed))
    return (agreeing + disagreeing - (kappa - expected * (1.0 - kappa)) ** 2) / (1.0 - expected) ** 2


def _normal_interval(kappa: float, se: float, confidence: float) -> tuple[float, float]:
    from scipy.stats import norm

    half = float(norm.ppf((1.0 + confidence) / 2.0)) * se
    return max(-1.0, kappa - half), min(1.0, kappa + half)
