"""How the sensitivity table is printed: a matrix a kind of edit, then every cell in full."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from analysis.mixed.interaction import Interaction
from analysis.printing.render import Column, Entry, Report, Sheet, Tone, number
from analysis.sensitivity.cells import FEW_REACTIONS, POWER, Cell
from analysis.sensitivity.records import MODELS, unit
from analysis.sensitivity.scaling import Standardization
from analysis.sensitivity.table import MetricSummary, SensitivityTable
from analysis.sensitivity.verdicts import MEANINGS, Verdict
from analysis.statistics.significance import p_text, stars
from challenge_sets import KINDS, Kind

LOOK: dict[Verdict, tuple[str, Tone | None]] = {
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

_FEW, _DISAGREE = "!", "≠"
_NOTHING_FOUND = (Verdict.INSENSITIVE, Verdict.INCONCLUSIVE, Verdict.NO_DIFFERENCE, Verdict.TOLERATED)
_READING = (
    "In brackets: the smallest difference that these pairs could have shown. Behind a mark: how many of "
    "the pairs are blind by construction (∅) or without a score (–), and so in no mean."
)

_INTRODUCTION = (
    "Mean delta = value(original) − value(perturbed) per metric and category: positive means that the "
    "metric penalised the edit. Pairs that a metric cannot tell apart by construction are counted apart and "
    "are in no mean and no test."
)


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
    return Report(
        title=f"Sensitivity of metrics on {table.set_name}",
        introduction=(_INTRODUCTION, f"Model: {MODELS[table.options.model]}."),
        sheets=(*matrices, *details),
        legend=legend([table]),
        notes=tuple(_notes(table)),
    )


def legend(tables: Sequence[SensitivityTable]) -> tuple[tuple[str, str], ...]:
    """Marks and what they mean, those that occur in any of the tables."""
    cells = [cell for table in tables for cell in table.cells]
    shown = {cell.verdict for cell in cells}
    entries = [
        (LOOK[verdict][0], f"{verdict}: {MEANINGS[verdict]}") for verdict in Verdict if verdict in shown
    ]
    if any(cell.unreliable for cell in cells):
        reasons = f"fewer than {FEW_REACTIONS} segments react, or deltas too skewed for their number"
        entries.append((_FEW, f"unreliable test: {reasons}"))
    if any(cell.models_disagree for cell in cells):
        entries.append((_DISAGREE, "the models cells, joint and per-metric do not give the same verdict"))
    if any(table.options.standardize is Standardization.ZSCORE for table in tables):
        entries.append(("z", "numbers and stars are centred; marks are the verdicts of the uncentred table"))
    entries.append(("*", "one, two, three stars: p < 0.05, 0.01, 0.001 for a mean other than zero"))
    return tuple(entries)


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
    adjusted = (
        "unadjusted"
        if sentinel or kind == "control"
        else f"{table.options.correction.name_in_tables} over all {kind} cells"
    )
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
    mark, tone = LOOK[cell.verdict]
    text = number(cell.mean, decimals)
    if cell.verdict in _NOTHING_FOUND and cell.smallest_detectable is not None:
        text += f" [{number(cell.smallest_detectable, decimals)}]"
    if cell.n and cell.blind:
        mark += f" {cell.blind}∅"
    if cell.n and cell.missing:
        mark += f" {cell.missing}–"
    mark += "".join(f" {sign}" for sign in _warnings(cell))
    return Entry(text, stars(cell.p), mark, tone)


def _warnings(cell: Cell) -> Iterable[str]:
    if cell.unreliable:
        yield _FEW
    if cell.models_disagree:
        yield _DISAGREE


def _details(table: SensitivityTable, cells: Sequence[Cell], title: str, label: str) -> Sheet:
    kind = cells[0].kind
    level = f"{100 * (1 - table.options.alpha):g} %"
    adjusted = (
        "" if kind == "control" or cells[0].sentinel else f" ({table.options.correction.name_in_tables})"
    )
    resampled = any(cell.bootstrap_t_log10_p is not None for cell in cells)
    columns = [Column("metric", "left"), Column("category", "left")]
    columns += map(
        Column, ("pairs n", "missing", "blind", "segments", "mean delta", "SE", f"{level} interval")
    )
    columns += map(Column, ("wins/ties/losses", "zero share", f"share of wins ({level})", f"p{adjusted}"))
    if kind == "variation":
        columns += map(Column, (f"{100 * (1 - 2 * table.options.alpha):g} % interval", "margin"))
    if kind != "control":
        columns.append(Column(f"p of equivalence{adjusted}"))
    if resampled:
        columns.append(Column("p, bootstrap-t, unadjusted"))
    columns += [Column("smallest detectable difference"), Column("verdict", "left")]
    columns += [Column("if centred", "left"), Column("other models", "left")]
    decimals = _decimals(table, shown=3)
    rows = []
    for cell in cells:
        places = decimals[cell.label]
        row = [Entry(cell.label), Entry(cell.category)]
        row += [Entry(str(count)) for count in (cell.n, cell.missing, cell.blind, cell.segments)]
        row += [Entry(number(cell.mean, places), stars(cell.p)), Entry(number(cell.se, places))]
        row += [Entry(_range(cell.low, cell.high, places)), Entry(f"{cell.wins}/{cell.ties}/{cell.losses}")]
        row += [Entry(number(cell.zero_share, 2)), Entry(_share(cell))]
        row.append(_p_entry(cell.p))
        if kind == "variation":
            margin = "" if cell.margin is None else f"±{number(cell.margin, places)}"
            row += [Entry(_range(cell.tost_low, cell.tost_high, places)), Entry(margin)]
        if kind != "control":
            row.append(_p_entry(cell.tost_p))
        if resampled:
            row.append(_p_entry(cell.bootstrap_t_log10_p))
        mark, tone = LOOK[cell.verdict]
        row.append(Entry(number(cell.smallest_detectable, places)))
        row.append(Entry(str(cell.verdict), mark=" ".join((mark, *_warnings(cell))), tone=tone))
        row.append(Entry(str(cell.verdict_if_centred) if cell.centring_changes else "same"))
        row.append(Entry(_others(table, cell)))
        rows.append(tuple(row))
    text = (
        *caption(table, cells),
        "Share of wins with Wilson's interval, adjusted for several pairs from one segment.",
        "Zero share: pairs with a delta within the tie threshold.",
        "If centred: the verdict, where another, that deltas centred on the metric's mean would have given.",
        "Other models: their verdicts, where they differ.",
        f"Smallest detectable difference: at {100 * POWER:g} % power, before correction.",
    )
    return Sheet(f"{label}-cells", f"{title}, every cell", text, tuple(columns), tuple(rows), long=True)


def _others(table: SensitivityTable, cell: Cell) -> str:
    chosen = str(table.options.model)
    differing = (
        f"{model}: {verdict}"
        for model, verdict in cell.verdict_by_model.items()
        if model != chosen and verdict != cell.verdict
    )
    return "; ".join(differing) or "same"


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
    yield from interaction_lines(table)
    uneven = table.uneven
    if uneven is not None:
        yield (
            f"SDs of cells range from {uneven.smallest_sd:.2g} ({uneven.smallest}) to "
            f"{uneven.largest_sd:.2g} ({uneven.largest}). The joint and per-metric models take one for all: "
            "their standard errors are too small for some cells and too large for others, and their tests of "
            "the interaction reject too often."
        )
    yield from _dependent_verdicts(table)
    if table.rejected:
        yield f"Left out because vetting rejected them: {table.rejected} pairs."


def _dependent_verdicts(table: SensitivityTable) -> Iterable[str]:
    """How many verdicts hang on the centring and on the model: of the metrics' errors and variations."""
    cells = [cell for cell in table.cells if cell.kind != "control" and not cell.sentinel]
    flips = sum(cell.centring_changes for cell in cells)
    yield f"Centring on each metric's mean delta would have changed {flips} of {len(cells)} verdicts."
    differing = [cell for cell in cells if cell.models_disagree]
    yield f"The three models give different verdicts in {len(differing)} of {len(cells)} cells."
    for cell in differing:
        answers = ", ".join(f"{model} {verdict}" for model, verdict in cell.verdict_by_model.items())
        yield f"{cell.label}, {cell.category}: {answers}."


def interaction_lines(table: SensitivityTable) -> Iterable[str]:
    """Whether the metrics differ in what they react to, by the three tests, a sentence each."""
    what = "Interaction category × metric"
    yield from test_lines(f"{what}, joint mixed model", table.interaction.model)
    robust = table.interaction.robust
    if robust.f is None or robust.log10_p is None:
        yield f"{what}, cluster-robust Wald: not tested, {robust.reason}."
    else:
        found = f"F {robust.f:.2f} with {robust.df1:g} and {robust.df2:.1f} df, p = {p_text(robust.log10_p)}"
        yield f"{what}, cluster-robust Wald: {found}."


def test_lines(what: str, tests: Interaction) -> Iterable[str]:
    """Both tests of a mixed model, a sentence each."""
    if tests.lr is None or tests.wald is None:
        yield f"{what}: not tested, {tests.reason}."
        return
    for name, test in (("likelihood ratio (ML)", tests.lr), ("Wald (REML)", tests.wald)):
        found = f"chi-square {test.chi2:.1f} with {test.df} df, p = {p_text(test.log10_p)}"
        yield f"{what}, {name}: {found}."
