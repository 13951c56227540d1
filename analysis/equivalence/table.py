"""The equivalence table: every source and domain, every method, every margin, with its verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.equivalence.cautions import cautions
from analysis.equivalence.estimate import Estimate
from analysis.equivalence.methods import available, default_method, estimate
from analysis.equivalence.options import Design, EquivalenceOptions, Method
from analysis.equivalence.pairs import PairedBy, PairTable, ScorePairs
from analysis.statistics.estimates import equivalence_verdict, smallest_detectable
from challenge_sets import InputError

ALL = "all"
"""The domain of a row over all domains."""
POWER = 0.8


@dataclass(frozen=True, slots=True)
class EquivalenceRow:
    """One source, domain, method and margin; differences are second - first (MIX - DOC) in metric units.

    ``default`` marks the method that the verdict goes by. ``low`` and ``high`` are the interval at
    1 - 2 alpha. P-values are log10, ``log10_p`` the larger one-sided. ``verdict`` is one of the four
    of ``equivalence_verdict``, or the state of an estimate that allows no test, and then all of those are
    ``None``. ``shown_within`` is the smallest margin that these scores show to hold;
    ``smallest_margin`` the one that a design of this precision shows in 80 % of samples if there is no
    difference; ``smallest_detectable`` the difference that it finds in 80 %.
    """

    metric: str | None
    domain: str
    method: Method
    default: bool
    margin: float
    estimate: Estimate
    low: float | None
    high: float | None
    log10_p_lower: float | None
    log10_p_upper: float | None
    log10_p: float | None
    log10_p_difference: float | None
    verdict: str
    shown_within: float | None
    smallest_margin: float | None
    smallest_detectable: float | None
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceAbout:
    """How one source's scores were paired: rows in all, units under one condition only."""

    metric: str | None
    rows: int
    paired_by: PairedBy
    unmatched: int


@dataclass(frozen=True, slots=True)
class EquivalenceTable:
    """All rows with the configuration that made them."""

    path: Path
    first_name: str
    second_name: str
    options: EquivalenceOptions
    sources: tuple[SourceAbout, ...]
    rows: tuple[EquivalenceRow, ...]

    @property
    def beside_naive(self) -> Iterator[tuple[EquivalenceRow, EquivalenceRow]]:
        """Each source, domain and margin: the naive row and the default's (the same, if that is naive)."""
        naive = {(row.metric, row.domain, row.margin): row for row in self.rows if row.method is Method.NAIVE}
        for row in self.rows:
            if row.default:
                yield naive[row.metric, row.domain, row.margin], row


def equivalence(table: PairTable, options: EquivalenceOptions) -> EquivalenceTable:
    """Test every source, whole and by domain, by every method that its columns allow.

    Raises ``InputError`` where ``options.method`` or the design needs a column that no source has.
    """
    methods = {
        source.metric: available(
            options.design, doc=source.doc is not None, annotator=source.annotator is not None
        )
        for source in table.sources
    }
    _check_columns(table, options)
    rows = []
    for source in table.sources:
        possible = methods[source.metric]
        default = options.method if options.method in possible else default_method(possible)
        for domain, part in _parts(source, table.domains):
            for method in possible:
                found = estimate(part, method, options)
                warnings = cautions(part, method, found, options)
                if method is default and options.method not in (None, default):
                    warnings = (
                        f"{options.method} needs what is not known here, so {method} stands in",
                        *warnings,
                    )
                rows += [
                    _row(source.metric, domain, method, method is default, margin, found, warnings, options)
                    for margin in options.margins
                ]
    about = [
        SourceAbout(source.metric, int(source.first.size), source.paired_by, source.unmatched)
        for source in table.sources
    ]
    return EquivalenceTable(
        table.path, table.first_name, table.second_name, options, tuple(about), tuple(rows)
    )


def _check_columns(table: PairTable, options: EquivalenceOptions) -> None:
    has_doc = any(source.doc is not None for source in table.sources)
    has_annotator = any(source.annotator is not None for source in table.sources)
    if options.design is Design.PER_ANNOTATOR and not has_annotator:
        raise InputError(
            "the per-annotator design needs annotators", path=table.path, hint="a column 'annotator'"
        )
    possible = available(options.design, doc=has_doc, annotator=has_annotator)
    if options.method is None or options.method in possible:
        return
    ever = available(options.design, doc=True, annotator=True)
    if options.method not in ever:
        raise InputError(
            f"the method '{options.method}' is none of the {options.design} design",
            hint=f"one of: {', '.join(ever)}",
        )
    raise InputError(
        f"the method '{options.method}' needs a column that the table lacks",
        path=table.path,
        hint=f"with its columns: {', '.join(possible)}; 'document' needs doc, 'annotator' needs annotator, "
        "'two-way' both",
    )


def _parts(source: ScorePairs, domains: tuple[str, ...]) -> Iterator[tuple[str, ScorePairs]]:
    yield ALL, source
    if source.domain is not None:
        for code in np.unique(source.domain):
            yield domains[code], source.rows(source.domain == code)


def _row(
    metric: str | None,
    domain: str,
    method: Method,
    default: bool,
    margin: float,
    found: Estimate,
    warnings: tuple[str, ...],
    options: EquivalenceOptions,
) -> EquivalenceRow:
    ends = found.interval(options.level)
    sides = found.one_sided(margin)
    difference = found.log10_p_difference()
    verdict: str = found.state
    if sides is not None and difference is not None:
        verdict = equivalence_verdict(difference, max(sides), options.alpha)
    margin_of_power, detectable = _power(found, options.alpha)
    return EquivalenceRow(
        metric=metric,
        domain=domain,
        method=method,
        default=default,
        margin=margin,
        estimate=found,
        low=None if ends is None else ends[0],
        high=None if ends is None else ends[1],
        log10_p_lower=None if sides is None else sides[0],
        log10_p_upper=None if sides is None else sides[1],
        log10_p=None if sides is None else max(sides),
        log10_p_difference=difference,
        verdict=verdict,
        shown_within=None if ends is None else max(-ends[0], ends[1]),
        smallest_margin=margin_of_power,
        smallest_detectable=detectable,
        warnings=warnings,
    )


def _power(found: Estimate, alpha: float) -> tuple[float | None, float | None]:
    # A bootstrap has no degrees of freedom; its SD is taken as that of a normal distribution.
    df = math.inf if found.resampled is not None else found.df
    if found.se is None or df is None:
        return None, None
    return smallest_margin(found.se, df, alpha=alpha), smallest_detectable(found.se, df, alpha=alpha)


def smallest_margin(se: float, df: float, *, alpha: float = 0.05, power: float = POWER) -> float:
    """The margin that TOST shows with the given power if the true difference is zero, in the unit of ``se``.

    (t_{1 - alpha} + t_{(1 + power) / 2}) × SE: both one-sided tests must reject, and each may fail in half of
    the 1 - power (Julious 2004, Statistics in Medicine 23(12); the central t in place of the noncentral).
    """
    from scipy.stats import t as student

    return float(student.ppf(1.0 - alpha, df) + student.ppf((1.0 + power) / 2.0, df)) * se
