"""How the sensitivity table is printed: a matrix a kind of edit, then every cell in full."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

from analysis.printing.render import Column, Entry, Report, Sheet, Tone, number
from analysis.sensitivity.scaling import Standardization
from analysis.sensitivity.table import POWER, Cell, MetricSummary, SensitivityTable
from analysis.sensitivity.verdicts import MEANINGS, Verdict
from analysis.statistics.significance import p_text, stars
from challenge_sets import KINDS, Kind

_LOOK: dict[Verdict, tuple[str, Tone | None]] = {
    Verdict.DETECTED: ("●", "good"),
    Verdict.INSENSITIVE: ("○", "doubtful"),
    Verdict.REVERSED: ("▼", "bad"),
    Verdict.TOLERATED: ("≈", "good"),
    Verdict.NEGLIGIBLE: ("≃", "good"),
    Verdict.PENALISED: ("✕", "bad"),
    Verdict.REWARDED: ("▲", "bad"),
    Verdict.INCONCLUSIVE: ("?", "doubtful"),
    Verdict.LOWER: ("↓", None),
    Verdict.HIGHER: ("↑", None),
    Verdict.NO_DIFFERENCE: ("·", None),
    Verdict.BLIND: ("∅", "neutral"),
    Verdict.DEGENERATE: ("=", "neutral"),
    Verdict.TOO_FEW: ("n<2", "neutral"),
    Verdict.NO_SCORES: ("–", "neutral"),
}

_KIND_TITLES: dict[Kind, str] = {
    "error": "Errors",
    "variation": "Acceptable variations",
    "control": "Controls",
}
_BASELINES = "Baselines, not metrics"

_NOTHING_FOUND = (Verdict.INSENSITIVE, Verdict.INCONCLUSIVE, Verdict.NO_DIFFERENCE, Verdict.TOLERATED)
_READING = (
    "In brackets: the smallest difference that these pairs could have shown. Behind a mark: how many of "
    "the pairs are blind by construction (∅) or without a score (–), and so in no mean."
)

_INTRODUCTION = (
    "Mean delta = value(original) − value(perturbed) per metric and category: positive means that the "
    "metric penalised the edit. Standard errors are robust to several pairs from one segment (CR2). Pairs "
    "that a metric cannot tell apart by construction are counted apart and are in no mean and no test."
)


def as_records(table: SensitivityTable) -> list[dict[str, Any]]:
    """Every cell as a mapping, p-values as log10 and as text; the columns of the CSV file and of the JSON."""
    records = []
    for cell in table.cells:
        record = {field.name: getattr(cell, field.name) for field in fields(cell)}
        record["missing_reasons"] = dict(cell.missing_reasons)
        record["verdict"] = str(cell.verdict)
        record |= {
            "p_text": None if cell.p is None else p_text(cell.p),
            "tost_p_text": None if cell.tost_p is None else p_text(cell.tost_p),
            "stars": stars(cell.p),
            "unit": unit(table),
        }
        records.append(record)
    return records


def as_json(table: SensitivityTable) -> dict[str, Any]:
    """The whole table as a JSON object: configuration, metrics with their scaling, cells."""
    options = table.options
    return {
        "configuration": {
            "set": table.set_name,
            "fingerprint": table.fingerprint,
            "pairs_rejected_by_vetting": table.rejected,
            "standardize": str(options.standardize),
            "unit": unit(table),
            "alpha": options.alpha,
            "interval_level": 1.0 - options.alpha,
            "margin": options.margin,
            "margin_sd": None if options.margin is not None else options.margin_in_sd,
            "standard_error": "CR2, clustered by segment, t with Satterthwaite degrees of freedom",
            "correction": "Holm; errors one family, variations another; controls and baselines unadjusted",
            "power": POWER,
            "pseudo_references": list(table.pseudo_references),
        },
        "metrics": [
            {
                "label": entry.label,
                "metric": entry.metric.name,
                "signature": entry.metric.signature,
                "sentinel": entry.metric.sentinel,
                "tie_threshold": entry.metric.tie_threshold,
                "pseudo_reference": entry.metric.pseudo_reference,
                "target_lang": entry.metric.target_lang,
                "centre": entry.scaling.centre,
                "divisor": entry.scaling.divisor,
                "within_category_sd": entry.scaling.within_sd,
                "scaled_by": list(entry.scaling.basis),
            }
            for entry in table.metrics
        ],
        "cells": as_records(table),
    }


def unit(table: SensitivityTable) -> str:
    """What a mean of this table is measured in."""
    return {
        Standardization.SCALE: "SD within categories",
        Standardization.ZSCORE: "SD of all deltas",
        Standardization.RAW: "metric units",
    }[table.options.standardize]


def as_report(table: SensitivityTable) -> Report:
    """Lay the table out: per kind a matrix of metrics and one of baselines, then per kind the full cells."""
    matrices, details = [], []
    for kind in KINDS:
        for sentinel in (False, True):
            cells = [cell for cell in table.cells if cell.kind == kind and cell.sentinel == sentinel]
            if cells:
                title = _KIND_TITLES[kind] + (f": {_BASELINES.lower()}" if sentinel else "")
                label = f"{kind}{'-baselines' if sentinel else ''}"
                matrices.append(_matrix(table, cells, title, label))
                details.append(_details(table, cells, title, label))
    shown = {cell.verdict for cell in table.cells}
    legend = [
        (_LOOK[verdict][0], f"{verdict}: {MEANINGS[verdict]}") for verdict in Verdict if verdict in shown
    ]
    legend.append(("*", "one, two, three stars: p < 0.05, 0.01, 0.001 for a mean other than zero"))
    return Report(
        title=f"Sensitivity of metrics on {table.set_name}",
        introduction=(_INTRODUCTION,),
        sheets=(*matrices, *details),
        legend=tuple(legend),
        notes=tuple(_notes(table)),
    )


def caption(table: SensitivityTable, cells: Sequence[Cell]) -> tuple[str, ...]:
    """What a reader must know of a sheet with these cells, as sentences: unit, tests, ties, stand-ins."""
    kind, sentinel = cells[0].kind, cells[0].sentinel
    labels = {cell.label for cell in cells}
    summaries = [entry for entry in table.metrics if entry.label in labels]
    parts = [f"Mean delta in {unit(table)}{_centring(table)}."]
    if sentinel:
        parts.append("Baselines show what length, chance or the source alone would give; none is a metric.")
    what = f"{_KIND_TITLES[kind]}, baselines" if sentinel else _KIND_TITLES[kind]
    test = "two-sided test against zero"
    if kind != "control" and table.options.standardize is not Standardization.ZSCORE:
        test += f", and equivalence by TOST against {_margins(table, summaries)}"
    adjusted = "unadjusted" if sentinel or kind == "control" else f"Holm over all {kind} cells"
    parts.append(f"{what}: {test}; {adjusted}, alpha = {table.options.alpha:g}.")
    thresholds: dict[float, list[str]] = {}
    for entry in summaries:
        thresholds.setdefault(entry.metric.tie_threshold, []).append(entry.label)
    ties = "; ".join(f"{value:g} ({', '.join(names)})" for value, names in thresholds.items())
    parts.append(f"A tie is a delta, in metric units, of at most ±{ties}.")
    for system in table.pseudo_references:
        names = [entry.label for entry in table.metrics if entry.metric.pseudo_reference == system]
        parts.append(
            f"Pseudo-reference: the output of {system} stands in for the reference of {', '.join(names)}."
        )
    return tuple(parts)


def _centring(table: SensitivityTable) -> str:
    if table.options.standardize is Standardization.ZSCORE:
        return (
            ", centred on each metric's own mean delta (zero is its average reaction, not the absence of "
            "one: a large effect in one category pushes the others down); verdicts are those of the "
            "uncentred table"
        )
    return ", not centred (zero: no reaction)"


def _margins(table: SensitivityTable, summaries: Iterable[MetricSummary]) -> str:
    options = table.options
    if options.standardize is not Standardization.RAW:
        return f"±{options.margin_in_sd:g} {unit(table)}"
    if options.margin is not None:
        return f"±{options.margin:g} metric units"
    own = []
    for entry in summaries:
        margin = entry.scaling.margin(options.margin_in_sd, None)
        if margin is not None:
            own.append(f"±{margin:.3g} {entry.label}")
    return f"{options.margin_in_sd:g} SD within categories, in metric units {', '.join(own) or 'unknown'}"


def _matrix(table: SensitivityTable, cells: Sequence[Cell], title: str, label: str) -> Sheet:
    labels = [entry.label for entry in table.metrics if any(cell.label == entry.label for cell in cells)]
    found = {(cell.category, cell.label): cell for cell in cells}
    decimals = _decimals(table, shown=2)
    rows = []
    for category in sorted({cell.category for cell in cells}):
        here = {name: found[category, name] for name in labels if (category, name) in found}
        row = [Entry(category), Entry(str(max(cell.pairs for cell in here.values())))]
        row += [_summary(here[name], decimals[name]) if name in here else Entry() for name in labels]
        rows.append(tuple(row))
    columns = (Column("category", "left"), Column("pairs"), *(Column(name) for name in labels))
    return Sheet(label, title, (*caption(table, cells), _READING), columns, tuple(rows))


def _summary(cell: Cell, decimals: int) -> Entry:
    """Mean, stars and mark; the detectable difference where nothing was found, and the pairs not seen."""
    mark, tone = _LOOK[cell.verdict]
    text = number(cell.mean, decimals)
    if cell.verdict in _NOTHING_FOUND and cell.smallest_detectable is not None:
        text += f" [{number(cell.smallest_detectable, decimals)}]"
    if cell.n and cell.blind:
        mark += f" {cell.blind}∅"
    if cell.n and cell.missing:
        mark += f" {cell.missing}–"
    return Entry(text, stars(cell.p), mark, tone)


def _details(table: SensitivityTable, cells: Sequence[Cell], title: str, label: str) -> Sheet:
    kind = cells[0].kind
    level = f"{100 * (1 - table.options.alpha):g} %"
    adjusted = "" if kind == "control" or cells[0].sentinel else " (Holm)"
    columns = [Column("metric", "left"), Column("category", "left")]
    columns += map(
        Column, ("pairs n", "missing", "blind", "segments", "mean delta", "SE", f"{level} interval")
    )
    columns += map(Column, ("wins/ties/losses", f"share of wins ({level})", f"p{adjusted}"))
    if kind == "variation":
        columns += map(Column, (f"{100 * (1 - 2 * table.options.alpha):g} % interval", "margin"))
    if kind != "control":
        columns.append(Column(f"p of equivalence{adjusted}"))
    columns += [Column("smallest detectable difference"), Column("verdict", "left")]
    decimals = _decimals(table, shown=3)
    rows = []
    for cell in cells:
        places = decimals[cell.label]
        row = [Entry(cell.label), Entry(cell.category)]
        row += [Entry(str(count)) for count in (cell.n, cell.missing, cell.blind, cell.segments)]
        row += [Entry(number(cell.mean, places), stars(cell.p)), Entry(number(cell.se, places))]
        row += [Entry(_range(cell.low, cell.high, places)), Entry(f"{cell.wins}/{cell.ties}/{cell.losses}")]
        row.append(Entry(_share(cell)))
        row.append(_p_entry(cell.p))
        if kind == "variation":
            margin = "" if cell.margin is None else f"±{number(cell.margin, places)}"
            row += [Entry(_range(cell.tost_low, cell.tost_high, places)), Entry(margin)]
        if kind != "control":
            row.append(_p_entry(cell.tost_p))
        mark, tone = _LOOK[cell.verdict]
        row.append(Entry(number(cell.smallest_detectable, places)))
        row.append(Entry(str(cell.verdict), mark=mark, tone=tone))
        rows.append(tuple(row))
    text = (
        *caption(table, cells),
        "Share of wins with Wilson's interval, which takes the pairs for independent.",
        f"Smallest detectable difference: at {100 * POWER:g} % power, before correction.",
    )
    return Sheet(f"{label}-cells", f"{title}, every cell", text, tuple(columns), tuple(rows), long=True)


def _p_entry(log10_p: float | None) -> Entry:
    return Entry("" if log10_p is None else p_text(log10_p))


def _range(low: float | None, high: float | None, decimals: int) -> str:
    return "" if low is None or high is None else f"{number(low, decimals)} to {number(high, decimals)}"


def _share(cell: Cell) -> str:
    if cell.win_share is None:
        return ""
    return f"{number(cell.win_share, 2)} ({_range(cell.win_share_low, cell.win_share_high, 2)})"


def _decimals(table: SensitivityTable, *, shown: int) -> dict[str, int]:
    """Decimals by label: as many as ``shown`` in SDs, and to the same part of an SD in metric units."""
    decimals = {}
    for entry in table.metrics:
        sd = entry.scaling.within_sd
        raw = table.options.standardize is Standardization.RAW and sd is not None
        decimals[entry.label] = max(shown, shown - math.floor(math.log10(sd))) if raw and sd else shown
    return decimals


def missing_lines(table: SensitivityTable) -> Iterable[str]:
    """A sentence for each metric that lacks scores: how many pairs, and with what status."""
    for entry in table.metrics:
        cells = [cell for cell in table.cells if cell.label == entry.label]
        reasons: Counter[str] = Counter()
        for cell in cells:
            reasons.update(cell.missing_reasons)
        if reasons:
            listed = ", ".join(f"{count} {status}" for status, count in sorted(reasons.items()))
            total = sum(cell.pairs for cell in cells)
            yield f"{entry.label}: {reasons.total()} of {total} pairs missing ({listed})."


def _notes(table: SensitivityTable) -> Iterable[str]:
    for entry in table.metrics:
        scaling = entry.scaling
        scale = (
            "its deltas do not vary"
            if scaling.within_sd is None
            else f"SD within categories {scaling.within_sd:.4g}"
        )
        if scaling.basis == ("control",):
            scale += " (from controls: no error or variation varies)"
        kind = " (baseline)" if entry.metric.sentinel else ""
        yield f"{entry.label}{kind}: {entry.metric.signature}; {scale}."
    yield from missing_lines(table)
    if table.rejected:
        yield f"Left out because vetting rejected them: {table.rejected} pairs."
