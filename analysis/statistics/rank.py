"""Agreement of two rankings: ranks, Kendall's tau-b of many resamples, thresholds by whole counts."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from challenge_sets import InputError

_CELLS_AT_ONCE = 4_000_000
"""Signs of pairs held at a time, one byte each."""


@dataclass(frozen=True, slots=True)
class TauRows:
    """Kendall's tau-b of ``n`` pairs of rankings of the same systems; all arrays have shape ``(n,)``.

    Of ``pairs`` pairs of systems a row has ``concordant`` and ``discordant`` ones; ``ties_a`` are tied in the
    first ranking, ``ties_b`` in the second (a pair tied in both is in both counts).
    """

    pairs: int
    concordant: NDArray[np.int64]
    discordant: NDArray[np.int64]
    ties_a: NDArray[np.int64]
    ties_b: NDArray[np.int64]

    @property
    def tau(self) -> NDArray[np.float64]:
        """(C - D) / sqrt((pairs - ties_a)(pairs - ties_b)); NaN where all systems tie in one ranking.

        Kendall 1945, "The treatment of ties in ranking problems", Biometrika 33(3).
        """
        root = np.sqrt((self.pairs - self.ties_a) * (self.pairs - self.ties_b).astype(np.float64))
        tau = np.full(root.shape, np.nan)
        np.divide(self.concordant - self.discordant, root, out=tau, where=root > 0)
        return tau


@dataclass(frozen=True, slots=True)
class KendallTau:
    """Tau-b of two rankings with its counts; ``tau`` is ``None`` where one of them has nothing but ties."""

    tau: float | None
    concordant: int
    discordant: int
    ties_a: int
    ties_b: int
    pairs: int

    @property
    def net(self) -> int:
        """Concordant less discordant pairs: tau times ``pairs`` where nothing ties."""
        return self.concordant - self.discordant


@dataclass(frozen=True, slots=True)
class TauThreshold:
    """A smallest acceptable tau as it was written, and the exact number that it is compared with."""

    text: str
    least: Fraction

    def net_needed(self, pairs: int) -> int:
        """The smallest C - D that reaches it among ``pairs`` pairs without ties.

        C - D is even where ``pairs`` is, odd where it is.
        """
        needed = math.ceil(self.least * pairs)
        return needed + (needed - pairs) % 2


def tau_threshold(text: str) -> TauThreshold:
    """Read a threshold for tau: a fraction such as ``2/3``, or a decimal such as ``0.667``.

    A decimal with two or more places is one that was rounded to them: every tau that prints as it, or as
    more, reaches it. So 0.667 is reached by 24 of 36 pairs (nine systems, exactly 2/3), which 0.667 taken
    literally would put below. A fraction, or a decimal with fewer places, is exact. Raises ``InputError``
    unless it lies between 0 and 1.
    """
    text = text.strip()
    if not re.fullmatch(r"\d+/0*[1-9]\d*|\d+\.?\d*|\.\d+", text, re.ASCII) or not 0 <= Fraction(text) <= 1:
        raise InputError(
            f"the threshold of tau is '{text}'", hint="a number between 0 and 1, such as 0.667 or 2/3"
        )
    places = len(text.partition(".")[2])
    half = Fraction(1, 2 * 10**places) if places >= 2 else Fraction(0)
    return TauThreshold(text, max(Fraction(text) - half, Fraction(0)))


def tau_b_rows(
    a: NDArray[np.float64], b: NDArray[np.float64], *, tolerance: tuple[float, float] = (0.0, 0.0)
) -> TauRows:
    """Tau-b of each row of ``a`` with the same row of ``b``; both have shape ``(n, systems)``, all finite.

    Higher is better in both, or lower in both. Scores that differ by at most ``tolerance`` (of ``a``, of
    ``b``) tie: sums in another order may give one mean as two numbers. Exact whole counts; O(n × systems²).
    """
    if a.shape != b.shape or a.ndim != 2:
        raise ValueError(f"shapes {a.shape} and {b.shape}")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("a score is missing or infinite")
    rows, systems = a.shape
    pairs = systems * (systems - 1) // 2
    counts = np.zeros((4, rows), dtype=np.int64)
    step = max(1, _CELLS_AT_ONCE // max(pairs, 1))
    for start in range(0, rows if pairs else 0, step):
        part = slice(start, start + step)
        first = _signs(a[part], pairs, tolerance[0])
        second = _signs(b[part], pairs, tolerance[1])
        product = first * second
        counts[0, part] = (product > 0).sum(axis=0)
        counts[1, part] = (product < 0).sum(axis=0)
        counts[2, part] = (first == 0).sum(axis=0)
        counts[3, part] = (second == 0).sum(axis=0)
    return TauRows(pairs, *counts)


def _signs(values: NDArray[np.float64], pairs: int, tolerance: float) -> NDArray[np.int8]:
    """Which of each pair of systems is better, as signs of shape ``(pairs, n)``."""
    columns = np.ascontiguousarray(values.T)
    signs = np.empty((pairs, values.shape[0]), dtype=np.int8)
    start = 0
    for system in range(columns.shape[0] - 1):
        difference = columns[system] - columns[system + 1 :]
        end = start + difference.shape[0]
        np.subtract(
            (difference > tolerance).view(np.int8),
            (difference < -tolerance).view(np.int8),
            out=signs[start:end],
        )
        start = end
    return signs


def kendall_tau(
    a: NDArray[np.float64], b: NDArray[np.float64], *, tolerance: tuple[float, float] = (0.0, 0.0)
) -> KendallTau:
    """Tau-b of two rankings of shape ``(systems,)``, as ``tau_b_rows``; no tau for fewer than two systems."""
    rows = tau_b_rows(a[np.newaxis], b[np.newaxis], tolerance=tolerance)
    tau = float(rows.tau[0])
    return KendallTau(
        tau=None if math.isnan(tau) else tau,
        concordant=int(rows.concordant[0]),
        discordant=int(rows.discordant[0]),
        ties_a=int(rows.ties_a[0]),
        ties_b=int(rows.ties_b[0]),
        pairs=rows.pairs,
    )


def share_below(threshold: TauThreshold, rows: TauRows) -> float | None:
    """Share of rows whose tau lies below the threshold; a tau exactly at it does not.

    Compared in whole numbers: (C - D)² against the threshold's square times (pairs - ties_a)(pairs - ties_b).
    Rows without a tau are left out; ``None`` where none has one.
    """
    net = rows.concordant - rows.discordant
    table = np.stack([net, rows.pairs - rows.ties_a, rows.pairs - rows.ties_b])
    kinds, counts = np.unique(table[:, (table[1:] > 0).all(axis=0)], axis=1, return_counts=True)
    if not counts.size:
        return None
    square = threshold.least**2
    below = 0
    # Python's whole numbers cannot overflow, and few combinations of counts occur.
    for (difference, untied_a, untied_b), count in zip(kinds.T.tolist(), counts.tolist(), strict=True):
        if difference < 0:
            # The threshold is at least 0.
            below += count
        elif difference**2 < square * (untied_a * untied_b):
            below += count
    return below / int(counts.sum())


def average_ranks(values: NDArray[np.float64], *, tolerance: float = 0.0) -> NDArray[np.float64]:
    """Ranks of scores of shape ``(systems,)``, all finite: 1 is the highest, ties share the mean rank.

    Neighbours in order that differ by at most ``tolerance`` tie.
    """
    order = np.argsort(-values, kind="stable")
    apart = -np.diff(values[order]) > tolerance
    group = np.concatenate(([0], np.cumsum(apart))).astype(np.intp)[: values.size]
    places = np.arange(1.0, values.size + 1.0)
    means = np.bincount(group, weights=places) / np.maximum(np.bincount(group), 1)
    ranks = np.empty(values.size)
    ranks[order] = means[group]
    return ranks


def identical_or_adjacent(a: NDArray[np.float64], b: NDArray[np.float64]) -> int:
    """How many systems have ranks in ``a`` and ``b`` (shape ``(systems,)``) at most one apart."""
    return int((np.abs(a - b) <= 1.0).sum())
