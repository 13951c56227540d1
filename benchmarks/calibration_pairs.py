"""Calibration of the sensitivity table: cells, models, interactions, shares of wins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from calibration_core import ALPHA, LEVEL, Codes, Floats, Outcome, Scenario, Test, rejects

from analysis.mixed.exact import fit_cells
from analysis.mixed.interaction import interaction_tests
from analysis.mixed.robust import interaction_wald
from analysis.statistics.bootstrap_t import bootstrap_t
from analysis.statistics.estimates import cluster_mean, interval, t_test
from analysis.statistics.shares import cluster_wilson, wilson


def t_outcome(values: Floats, segments: Codes, truth: float = 0.0) -> Outcome:
    """The default test of a cell: CR2 by segment, t with Satterthwaite degrees of freedom."""
    found = cluster_mean(values - truth, segments)
    if found.mean is None or found.se is None or found.df is None:
        return Outcome(0.0, None)
    low, high = interval(found.mean, found.se, found.df, LEVEL)
    return Outcome(float(t_test(found.mean, found.se, found.df) < np.log10(ALPHA)), float(low <= 0.0 <= high))


def naive_outcome(values: Floats) -> Outcome:
    """Each pair taken for independent."""
    return t_outcome(values, np.arange(values.size))


def bootstrap_outcome(values: Floats, segments: Codes, rng: np.random.Generator) -> Outcome:
    """The bootstrap-t that is offered where reactions are few."""
    found = bootstrap_t(values, segments, rng=rng, resamples=999)
    return Outcome(rejects(None if found is None else found.log10_p()))


def one_cell(
    name: str,
    make: Callable[[np.random.Generator], tuple[Floats, Codes]],
    *,
    plain: bool = False,
    warned: bool = False,
) -> Scenario:
    """A cell whose mean delta is truly 0."""

    def draw(rng: np.random.Generator) -> tuple[Outcome, ...]:
        values, segments = make(rng)
        return t_outcome(values, segments), naive_outcome(values), bootstrap_outcome(values, segments, rng)

    tests = (
        Test("t, CR2 by segment (cells)", default=True, warned=warned),
        Test("t, pairs taken for independent"),
        Test("bootstrap-t by segment (--bootstrap-t)", warned=warned),
    )
    return Scenario(name, plain, tests, draw)


def independent(n: int) -> Callable[[np.random.Generator], tuple[Floats, Codes]]:
    """``n`` segments with one normal delta each."""
    return lambda rng: (rng.normal(size=n), np.arange(n))


def clustered(segments: int, most: int) -> Callable[[np.random.Generator], tuple[Floats, Codes]]:
    """``segments`` segments with 1 to ``most`` pairs each, half of the variance between segments."""

    def make(rng: np.random.Generator) -> tuple[Floats, Codes]:
        sizes = rng.integers(1, most + 1, segments)
        codes = np.repeat(np.arange(segments), sizes)
        return rng.normal(size=segments)[codes] + rng.normal(size=codes.size), codes

    return make


def zero_heavy(n: int, *, skew: float | None) -> Callable[[np.random.Generator], tuple[Floats, Codes]]:
    """80 % zeros; the rest symmetric, or one reaction of ``skew`` for ``skew`` of -1, as judges score."""

    def make(rng: np.random.Generator) -> tuple[Floats, Codes]:
        reacting = rng.random(n) < 0.2
        if skew is None:
            sizes = rng.normal(size=n)
        else:
            sizes = np.where(rng.random(n) < 1.0 / (1.0 + skew), skew, -1.0)
        return np.where(reacting, sizes, 0.0), np.arange(n)

    return make


@dataclass(frozen=True)
class Grid:
    """Metrics × categories × segments without any effect, in a table's unit."""

    metrics: int = 5
    categories: int = 6
    segments: int = 120
    share: float = 0.5
    """Of the segments, how many have a pair in a category."""
    spreads: tuple[float, float] = (1.0, 1.0)
    """Smallest and largest SD of a cell."""
    common: float = 0.0
    """Share of the variance that the metrics of one pair have in common."""
    between: float = 0.2
    """Share of the variance between segments."""

    def draw(self, rng: np.random.Generator) -> tuple[Floats, Codes, Codes, Codes]:
        """Values, categories, metrics and segments of all rows."""
        has = rng.random((self.segments, self.categories)) < self.share
        segment, category = np.nonzero(has)
        pairs = segment.size
        spread = np.geomspace(*self.spreads, self.metrics * self.categories)
        # Small and large SDs are spread over metrics and categories alike.
        spread = spread[np.random.default_rng(7).permutation(spread.size)]
        spread = spread.reshape(self.categories, self.metrics)
        own = 1.0 - self.common - self.between
        values = np.sqrt(self.between) * rng.normal(size=self.segments)[segment][:, None]
        values = values + np.sqrt(self.common) * rng.normal(size=pairs)[:, None]
        values = (values + np.sqrt(own) * rng.normal(size=(pairs, self.metrics))) * spread[category]
        rows = np.repeat(np.arange(pairs), self.metrics)
        metric = np.tile(np.arange(self.metrics), pairs)
        return values.reshape(-1), category[rows], metric, segment[rows]


def grid_cells(name: str, grid: Grid, *, plain: bool = False, warned: bool = False) -> Scenario:
    """All cells of a table at once, each truly 0, under the three models."""

    def draw(rng: np.random.Generator) -> tuple[Outcome, ...]:
        values, category, metric, segment = grid.draw(rng)
        cells = category * grid.metrics + metric
        each = [
            t_outcome(values[cells == code], segment[cells == code]) for code in range(int(cells.max()) + 1)
        ]
        by_cell = Outcome(
            float(np.mean([one.rejected for one in each])), float(np.mean([one.covered for one in each]))
        )
        joint = _mixed(values, cells, segment)
        single = [
            _mixed(values[metric == m], category[metric == m], segment[metric == m])
            for m in np.unique(metric)
        ]
        per_metric = Outcome(
            float(np.mean([one.rejected for one in single])), float(np.mean([one.covered for one in single]))
        )
        return by_cell, joint, per_metric

    tests = (
        Test("t, CR2 by segment (cells)", default=True),
        Test("joint mixed model", warned=warned),
        Test("mixed model per metric", warned=warned),
    )
    return Scenario(name, plain, tests, draw)


def _mixed(values: Floats, cells: Codes, segments: Codes) -> Outcome:
    fit = fit_cells(values, np.unique(cells, return_inverse=True)[1], segments)
    assert fit.se is not None and fit.df is not None
    found = [
        interval(float(b), float(s), float(d), LEVEL)
        for b, s, d in zip(fit.beta, fit.se, fit.df, strict=True)
    ]
    inside = float(np.mean([low <= 0.0 <= high for low, high in found]))
    return Outcome(1.0 - inside, inside)


def grid_interaction(name: str, grid: Grid, *, plain: bool = False, warned: bool = False) -> Scenario:
    """Metrics that react alike: category × metric is truly 0."""

    def draw(rng: np.random.Generator) -> tuple[Outcome, ...]:
        values, category, metric, segment = grid.draw(rng)
        # A category's effect is the same for all metrics, and a metric's for all categories.
        values = values + 0.5 * (category % 3) + 0.3 * (metric % 2)
        mixed = interaction_tests(values, category, metric, segment)
        robust = interaction_wald(values, category, metric, segment)
        assert mixed.lr is not None and mixed.wald is not None and robust.log10_p is not None
        return tuple(
            Outcome(rejects(log10_p)) for log10_p in (robust.log10_p, mixed.lr.log10_p, mixed.wald.log10_p)
        )

    tests = (
        Test("interaction, cluster-robust Wald F", default=True),
        Test("interaction, likelihood ratio of the joint model", warned=warned),
        Test("interaction, Wald of the joint model", warned=warned),
    )
    return Scenario(name, plain, tests, draw)


def shares(name: str, segments: int, copies: int, share: float) -> Scenario:
    """Wins of ``copies`` pairs a segment, which agree more than chance."""

    def draw(rng: np.random.Generator) -> tuple[Outcome, ...]:
        own = rng.beta(2 * share, 2 * (1 - share), segments)
        wins = rng.random((segments, copies)) < own[:, None]
        codes = np.repeat(np.arange(segments), copies)
        flat = wins.reshape(-1)
        found = cluster_wilson(flat, codes), wilson(int(flat.sum()), flat.size)
        return tuple(Outcome(None, float(low <= share <= high)) for low, high in found)

    tests = (
        Test("share of wins, Wilson adjusted for segments", default=True, kind="interval"),
        Test("share of wins, Wilson of independent pairs", kind="interval"),
    )
    return Scenario(name, False, tests, draw)


HETEROSCEDASTIC = Grid(spreads=(0.4, 2.5))

SENSITIVITY: tuple[Scenario, ...] = (
    one_cell("independent: 64 segments, a pair each", independent(64), plain=True),
    one_cell("independent: 12 segments, a pair each", independent(12), plain=True, warned=True),
    one_cell("clustered: 40 segments of 1 to 6 pairs", clustered(40, 6), plain=True),
    one_cell("clustered: 10 segments of 1 to 6 pairs", clustered(10, 6), warned=True),
    one_cell("80 % zeros, symmetric: 64 pairs", zero_heavy(64, skew=None), warned=True),
    one_cell("80 % zeros, skewed 1:3: 64 pairs", zero_heavy(64, skew=3.0), warned=True),
    one_cell("80 % zeros, skewed 1:3: 100 pairs", zero_heavy(100, skew=3.0), warned=True),
    one_cell("80 % zeros, skewed 1:3: 200 pairs", zero_heavy(200, skew=3.0)),
    one_cell("80 % zeros, skewed 1:9: 200 pairs", zero_heavy(200, skew=9.0), warned=True),
    grid_cells("cells: 5 metrics × 6 categories, 120 segments", Grid(), plain=True),
    grid_cells("cells, SDs from 0.4 to 2.5", HETEROSCEDASTIC, warned=True),
    grid_cells("cells, metrics correlated 0.7", Grid(common=0.5), plain=True),
    grid_interaction("interaction: 5 metrics × 6 categories, 120 segments", Grid(), plain=True),
    grid_interaction("interaction, SDs from 0.4 to 2.5", HETEROSCEDASTIC, warned=True),
    grid_interaction("interaction, metrics correlated 0.7", Grid(common=0.5), warned=True),
    shares("share 0.8: 60 segments of 4 pairs", 60, 4, 0.8),
    shares("share 0.95: 60 segments of 4 pairs", 60, 4, 0.95),
)
