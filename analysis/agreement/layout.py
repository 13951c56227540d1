"""How agreement is printed: kappas as Table 7 of Quinjica et al. 2026, alphas as in Kim et al. 2026."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analysis.agreement.alpha import MEANINGS as ALPHA_STATES
from analysis.agreement.alpha import Alpha
from analysis.agreement.kappa import MEANINGS as KAPPA_STATES
from analysis.agreement.kappa import BinaryCounts, Kappa
from analysis.agreement.labels import AgreementRow
from analysis.agreement.table import RELIABLE_FROM, SCORES, UNITS, AlphaRow, AlphaTable
from analysis.printing.render import Column, Entry, Report, Sheet, number

_LEGEND = (
    ("●", f"α at least {RELIABLE_FROM}, enough for tentative conclusions (Krippendorff 2004)"),
    ("○", f"α below {RELIABLE_FROM}"),
)


def kappa_sheet(rows: Sequence[AgreementRow]) -> Sheet:
    """Agreement of annotators (Table 7): a row a category, kind and overall; at least one row.

    The columns of valid items are there where the labels are two and one of them means valid.
    """
    binary = all(row.counts is not None for row in rows)
    missing = any(row.kappa.missing for row in rows)
    columns = [Column("category", "left"), Column("items")]
    if missing:
        columns.append(Column("without both labels"))
    if binary:
        columns += [Column("valid, 1st"), Column("valid, 2nd"), Column("both valid"), Column("both invalid")]
    columns += [Column("observed"), Column("expected"), Column("κ"), Column("SE")]
    columns += [Column("asymptotic interval"), Column("bootstrap interval")]
    body = []
    for row in rows:
        kappa, counts = row.kappa, row.counts
        entries = [row.name, str(kappa.n)]
        if missing:
            entries.append(str(kappa.missing))
        if binary and counts is not None:
            entries += map(str, (counts.valid1, counts.valid2, counts.both_valid, counts.both_invalid))
        entries += [number(kappa.observed, 3), number(kappa.expected, 3), number(kappa.kappa, 3)]
        if kappa.kappa is None:
            entries[-1] = kappa.state
        entries.append(number(kappa.se, 3) if kappa.state != "no variance" else kappa.state)
        entries += [_span(kappa.interval), _span(kappa.bootstrap_interval)]
        body.append(tuple(map(Entry, entries)))
    first = rows[0].kappa
    labels = sorted({label for row in rows for label in row.kappa.labels})
    caption = [
        f"Cohen's κ of two annotators; labels: {', '.join(labels) or 'none'}. Intervals at "
        f"{first.confidence:.0%}: by the large-sample standard error (Fleiss, Cohen and Everitt 1969)"
        + (
            f" and from {first.resamples} resamples of the items (seed {first.seed})."
            if first.resamples
            else "."
        )
    ]
    states = dict.fromkeys(row.kappa.state for row in rows if row.kappa.state != "ok")
    caption += [f"{state}: {KAPPA_STATES[state]}." for state in states]
    undefined = sum(row.kappa.undefined_resamples for row in rows)
    if undefined:
        caption.append(f"{undefined} resamples without a κ are in no interval.")
    return Sheet("agreement", "Agreement of annotators", tuple(caption), tuple(columns), tuple(body))


def alpha_sheet(table: AlphaTable) -> Sheet:
    """Alphas of Kim et al. 2026: units, raw and z-scored, by condition, with their intervals."""
    conditions = sorted({row.condition for row in table.rows})
    metrics = sorted({row.metric for row in table.rows})
    found = {(row.metric, row.unit, row.scores, row.condition): row for row in table.rows}
    columns = [Column("unit", "left"), Column("scores", "left"), *map(Column, conditions)]
    if len(metrics) > 1:
        columns.insert(0, Column("metric", "left"))
    body = []
    for metric in metrics:
        for unit in UNITS:
            for scores in SCORES:
                cells = [found.get((metric, unit, scores, condition)) for condition in conditions]
                if not any(cells):
                    continue
                head = [Entry(unit), Entry("z by annotator" if scores == "z" else scores)]
                if len(metrics) > 1:
                    head.insert(0, Entry(metric))
                body.append((*head, *map(_alpha_entry, cells)))
    return Sheet("alphas", "Krippendorff's alpha", tuple(_alpha_caption(table)), tuple(columns), tuple(body))


def _alpha_entry(row: AlphaRow | None) -> Entry:
    if row is None:
        return Entry()
    alpha = row.alpha
    if alpha.alpha is None:
        return Entry(alpha.state, tone="neutral")
    parts = (number(alpha.alpha, 3), _span(alpha.interval), f"n={alpha.units}")
    text = " ".join(part for part in parts if part)
    return Entry(text, mark="●" if row.reliable else "○", tone="good" if row.reliable else "doubtful")


def _alpha_caption(table: AlphaTable) -> list[str]:
    caption = [
        f"Krippendorff's α ({table.level}): 1 is full agreement, 0 what chance would give. A segment is one "
        "of a system's output, a document the mean of an annotator's scores of those segments of a system in "
        "it that somebody else scored, too; n units have two values or more; z is by annotator over all "
        "their scores, whatever the condition."
    ]
    if table.resamples:
        caption.append(
            f"In brackets: {table.confidence:.0%} interval from {table.resamples} resamples of documents "
            f"(seed {table.seed}), for other documents and the same annotators."
        )
    if any(row.alpha.clusters == 1 for row in table.rows):
        caption.append("One document has no interval.")
    if table.without_z:
        caption.append(f"No z-scores, as the scores do not vary: {', '.join(table.without_z)}.")
    if table.without_annotators:
        caption.append(f"Left out, as the scores have no annotator: {', '.join(table.without_annotators)}.")
    partial = max((row.partial for row in table.rows), default=0)
    if partial:
        caption.append(f"Up to {partial} document means lack some of the document's segments.")
    states = dict.fromkeys(row.alpha.state for row in table.rows if row.alpha.state != "ok")
    return caption + [f"{state}: {ALPHA_STATES[state]}." for state in states]


def _alpha_details(table: AlphaTable) -> Sheet:
    headings = ("annotators", "units", "values", "dropped units", "missing", "partial", "documents")
    columns = [Column(name, "left") for name in ("metric", "condition", "unit", "scores")]
    columns += [*map(Column, headings), Column("observed"), Column("expected"), Column("α")]
    columns.append(Column("interval"))
    body = []
    for row in table.rows:
        alpha = row.alpha
        counts = (
            row.annotators,
            alpha.units,
            alpha.values,
            alpha.dropped_units,
            alpha.missing,
            row.partial,
            alpha.clusters,
        )
        entries = [row.metric, row.condition, row.unit, row.scores, *map(str, counts)]
        entries += [number(alpha.observed, 3), number(alpha.expected, 3)]
        entries += [alpha.state if alpha.alpha is None else number(alpha.alpha, 3), _span(alpha.interval)]
        body.append(tuple(map(Entry, entries)))
    caption = (
        "Units have two values or more, dropped ones fewer. Observed and expected disagreement are mean "
        "squared differences (of ranks where ordinal) within units and between all values.",
    )
    return Sheet("alpha-cells", "Every alpha", caption, tuple(columns), tuple(body), long=True)


def kappa_report(rows: Sequence[AgreementRow]) -> Report:
    """The report on labels."""
    return Report("Agreement of annotators", (), (kappa_sheet(rows),))


def alpha_report(table: AlphaTable) -> Report:
    """The report on scores: the published layout, then every cell with its counts."""
    return Report("Agreement of annotators", (), (alpha_sheet(table), _alpha_details(table)), _LEGEND)


def kappa_record(kappa: Kappa, counts: BinaryCounts | None) -> dict[str, Any]:
    """One kappa for JSON and CSV; intervals as low and high, ``None`` where there is none."""
    low, high = kappa.interval or (None, None)
    bootstrap_low, bootstrap_high = kappa.bootstrap_interval or (None, None)
    return {
        "n": kappa.n,
        "missing": kappa.missing,
        "valid1": None if counts is None else counts.valid1,
        "valid2": None if counts is None else counts.valid2,
        "both_valid": None if counts is None else counts.both_valid,
        "both_invalid": None if counts is None else counts.both_invalid,
        "observed": kappa.observed,
        "expected": kappa.expected,
        "kappa": kappa.kappa,
        "se": kappa.se,
        "low": low,
        "high": high,
        "bootstrap_low": bootstrap_low,
        "bootstrap_high": bootstrap_high,
        "undefined_resamples": kappa.undefined_resamples,
        "state": kappa.state,
        "confidence": kappa.confidence,
        "resamples": kappa.resamples,
        "seed": kappa.seed,
    }


def kappa_records(rows: Sequence[AgreementRow]) -> list[dict[str, Any]]:
    """The rows for JSON and CSV; ``part`` is category, kind or overall."""
    return [{"part": row.part, "name": row.name, **kappa_record(row.kappa, row.counts)} for row in rows]


def kappa_document(rows: Sequence[AgreementRow]) -> dict[str, Any]:
    """The rows as one JSON object, each with its cross table."""
    records = kappa_records(rows)
    for record, row in zip(records, rows, strict=True):
        record |= {"labels": row.kappa.labels, "table": row.kappa.table}
    return {"rows": records}


def alpha_records(table: AlphaTable) -> list[dict[str, Any]]:
    """The rows of ``table`` for JSON and CSV."""
    return [
        {
            "metric": row.metric,
            "condition": row.condition,
            "unit": row.unit,
            "scores": row.scores,
            "level": str(table.level),
            "annotators": row.annotators,
            "partial": row.partial,
            **_alpha_record(row.alpha),
            "reliable": row.reliable,
        }
        for row in table.rows
    ]


def alpha_document(table: AlphaTable) -> dict[str, Any]:
    """The table as one JSON object with the configuration that made it."""
    return {
        "level": str(table.level),
        "reliable_from": RELIABLE_FROM,
        "confidence": table.confidence,
        "resamples": table.resamples,
        "seed": table.seed,
        "without_z": table.without_z,
        "without_annotators": table.without_annotators,
        "rows": alpha_records(table),
    }


def _alpha_record(alpha: Alpha) -> dict[str, Any]:
    low, high = alpha.interval or (None, None)
    return {
        "units": alpha.units,
        "values": alpha.values,
        "dropped_units": alpha.dropped_units,
        "missing": alpha.missing,
        "documents": alpha.clusters,
        "observed": alpha.observed,
        "expected": alpha.expected,
        "alpha": alpha.alpha,
        "low": low,
        "high": high,
        "undefined_resamples": alpha.undefined_resamples,
        "state": alpha.state,
    }


def _span(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"[{number(interval[0], 3)}, {number(interval[1], 3)}]"
