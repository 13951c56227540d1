"""How equivalence is printed: the naive test beside the default, as score equivalence in Kim et al. 2026."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analysis.equivalence.methods import describe
from analysis.equivalence.options import Design, Method
from analysis.equivalence.table import ALL, POWER, EquivalenceRow, EquivalenceTable
from analysis.printing.render import Column, Entry, Report, Sheet, Tone, number
from analysis.statistics.significance import p_text

_LOOK: dict[str, tuple[str, Tone]] = {
    "equivalent": ("≈", "good"),
    "different": ("✕", "bad"),
    "both (different but negligible)": ("≃", "good"),
    "inconclusive": ("?", "doubtful"),
}
_STATES = {
    "degenerate": "the differences do not vary (by cluster), so there is nothing to test with",
    "too few": "fewer than two rows or clusters of a kind",
    "no data": "no scores to compare",
}
_DIFFERS = "≠"
_DECIMALS = 3
_NAMES = 4
"""Rows that a warning names before it counts."""


def as_report(table: EquivalenceTable) -> Report:
    """The naive test beside the default by source, domain and margin, then every method in full."""
    conditions = f"{table.second_name} − {table.first_name}"
    used = dict.fromkeys(row.method for row in table.rows)
    verdicts = dict.fromkeys(row.verdict for row in table.rows)
    legend = [(_LOOK[name][0], name) for name in _LOOK if name in verdicts]
    if any(_overturned(pair) for pair in table.beside_naive):
        legend.append((_DIFFERS, "the naive test would have said something else"))
    return Report(
        title=f"Equivalence of {table.first_name} and {table.second_name}",
        introduction=(
            f"Difference = {conditions}, in the units of the scores. Equivalent within a margin: both "
            f"one-sided tests reject at {table.options.alpha:g}, so that the {table.options.level:.0%} "
            "interval lies within ± the margin.",
            *(f"{method}: {describe(method, table.options.design)}." for method in used),
        ),
        sheets=(_beside_naive(table), _details(table)),
        legend=tuple(legend),
        notes=tuple(warning_lines(table)),
    )


def warning_lines(table: EquivalenceTable) -> list[str]:
    """The warnings of the rows that verdicts go by, each with the sources, domains and methods it is of."""
    found: dict[str, dict[str, None]] = {}
    for row in table.rows:
        if row.default:
            for warning in row.warnings:
                found.setdefault(warning, {})[_name(row, table)] = None
    return [f"{_some(list(rows))}: {warning}." for warning, rows in found.items()]


def _some(names: Sequence[str]) -> str:
    shown, more = names[:_NAMES], len(names) - _NAMES
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _name(row: EquivalenceRow, table: EquivalenceTable) -> str:
    parts = [row.metric] if row.metric is not None else []
    parts += [row.domain] if row.domain != ALL else []
    return "/".join([*parts, str(row.method)])


def _overturned(pair: tuple[EquivalenceRow, EquivalenceRow]) -> bool:
    return pair[0].verdict != pair[1].verdict


def _beside_naive(table: EquivalenceTable) -> Sheet:
    pairs = list(table.beside_naive)
    level = f"{table.options.level:.0%} interval"
    columns = [
        *_head(table),
        Column("margin"),
        Column("n"),
        Column(table.first_name),
        Column(table.second_name),
        Column("difference"),
    ]
    for name in ("naive", "default"):
        columns += [Column(f"{name}: {level}"), Column("p"), Column("verdict", "left")]
    columns.append(Column("default method", "left"))
    body = []
    for naive, default in pairs:
        found = default.estimate
        entries = [*_head_entries(table, default), Entry(f"±{default.margin:g}"), Entry(str(found.n))]
        entries += [
            Entry(number(value, _DECIMALS))
            for value in (found.mean_first, found.mean_second, found.difference)
        ]
        entries += _test(naive)
        entries += _test(default, differs=_overturned((naive, default)))
        body.append((*entries, Entry(str(default.method))))
    return Sheet(
        "equivalence",
        "Equivalence tests: naive beside the default",
        tuple(_caption(table, pairs)),
        tuple(columns),
        tuple(body),
    )


def _caption(
    table: EquivalenceTable, pairs: Sequence[tuple[EquivalenceRow, EquivalenceRow]]
) -> Iterable[str]:
    yield (
        f"Difference is {table.second_name} − {table.first_name}; p is the larger of the two one-sided tests "
        f"against the margin, at level {table.options.alpha:g}, unadjusted for how many sources and domains."
    )
    methods = dict.fromkeys(default.method for _, default in pairs)
    if methods.keys() == {Method.NAIVE}:
        yield "Here the default is the naive test."
    for method in {Method.NAIVE: None} | methods:
        yield f"{str(method).capitalize()}: {describe(method, table.options.design)}."
    if table.options.design is Design.PER_ANNOTATOR:
        yield "n is the number of annotators."
    missing = max((default.estimate.missing for _, default in pairs), default=0)
    if missing:
        what = "annotators" if table.options.design is Design.PER_ANNOTATOR else "rows"
        yield f"Up to {missing} {what} lack a score and are in no mean."
    changed = sum(map(_overturned, pairs))
    yield f"The two verdicts differ in {changed} of {len(pairs)} rows."
    yield from _power(
        [row for _, row in pairs if row.domain == ALL and row.margin == table.options.margins[0]]
    )
    states = dict.fromkeys(row.verdict for pair in pairs for row in pair if row.verdict in _STATES)
    for state in states:
        yield f"{state}: {_STATES[state]}."


def _power(rows: Sequence[EquivalenceRow]) -> Iterable[str]:
    """What each source's design could have found; of many sources the range."""
    known = [row for row in rows if row.smallest_margin is not None]
    if len(known) > _NAMES:
        detectable = [row.smallest_detectable for row in known if row.smallest_detectable is not None]
        margins = [row.smallest_margin for row in known if row.smallest_margin is not None]
        yield (
            f"In {POWER:.0%} of samples the precisions of these sources find differences of "
            f"{_range(detectable)}, or show margins of {_range(margins)} where there is none."
        )
        return
    for row in known:
        yield (
            f"{'By the default' if row.metric is None else row.metric}: equivalent within any margin above "
            f"{number(row.shown_within, _DECIMALS)}. In {POWER:.0%} of samples this precision finds a "
            f"difference of {number(row.smallest_detectable, _DECIMALS)}, or shows a margin of "
            f"{number(row.smallest_margin, _DECIMALS)} where there is no difference."
        )


def _range(values: Sequence[float]) -> str:
    return f"{number(min(values), _DECIMALS)} to {number(max(values), _DECIMALS)}"


def _details(table: EquivalenceTable) -> Sheet:
    columns = [
        *_head(table),
        Column("method", "left"),
        Column("margin"),
        Column("n"),
        Column("missing"),
        Column("documents"),
        Column("annotators"),
        Column(table.first_name),
        Column(table.second_name),
        Column("difference"),
        Column("SE"),
        Column("df"),
        Column(f"{table.options.level:.0%} interval"),
        Column("p lower"),
        Column("p upper"),
        Column("p difference"),
        Column("verdict", "left"),
        Column("shown within"),
        Column("smallest margin"),
        Column("smallest detectable"),
    ]
    body = []
    for row in table.rows:
        found = row.estimate
        entries = [*_head_entries(table, row)]
        entries.append(Entry(f"{row.method}{' (default)' if row.default else ''}"))
        entries += [Entry(f"±{row.margin:g}"), Entry(str(found.n)), Entry(str(found.missing))]
        entries += [Entry("" if c is None else str(c)) for c in (found.documents, found.annotators)]
        entries += [
            Entry(number(value, _DECIMALS))
            for value in (found.mean_first, found.mean_second, found.difference, found.se)
        ]
        entries += [Entry(number(found.df, 1)), Entry(_span(row))]
        entries += [
            Entry(_p(value)) for value in (row.log10_p_lower, row.log10_p_upper, row.log10_p_difference)
        ]
        entries.append(_verdict(row))
        entries += [
            Entry(number(value, _DECIMALS))
            for value in (row.shown_within, row.smallest_margin, row.smallest_detectable)
        ]
        body.append(tuple(entries))
    caption = (
        "P lower is of a difference of at most minus the margin, p upper of one of at least the margin.",
        "Shown within: the smallest margin that these scores show to hold; smallest margin: what this "
        f"precision shows in {POWER:.0%} of samples if there is no difference; smallest detectable: the "
        f"difference it finds in {POWER:.0%}.",
        f"The bootstrap: {table.options.resamples} resamples, seed {table.options.seed}; its SE is their SD.",
    )
    return Sheet("equivalence-all", "Every method", caption, tuple(columns), tuple(body), long=True)


def _head(table: EquivalenceTable) -> list[Column]:
    columns = [Column("metric", "left")] if _has_metric(table) else []
    return columns + ([Column("domain", "left")] if _has_domain(table) else [])


def _head_entries(table: EquivalenceTable, row: EquivalenceRow) -> list[Entry]:
    entries = [Entry(row.metric or "")] if _has_metric(table) else []
    return entries + ([Entry(row.domain)] if _has_domain(table) else [])


def _has_metric(table: EquivalenceTable) -> bool:
    return any(source.metric is not None for source in table.sources)


def _has_domain(table: EquivalenceTable) -> bool:
    return any(row.domain != ALL for row in table.rows)


def _test(row: EquivalenceRow, *, differs: bool = False) -> list[Entry]:
    return [Entry(_span(row)), Entry(_p(row.log10_p)), _verdict(row, differs=differs)]


def _verdict(row: EquivalenceRow, *, differs: bool = False) -> Entry:
    mark, tone = _LOOK.get(row.verdict, ("", "neutral"))
    return Entry(row.verdict, mark=" ".join(filter(None, (mark, _DIFFERS if differs else ""))), tone=tone)


def _p(log10_p: float | None) -> str:
    return "" if log10_p is None else p_text(log10_p)


def _span(row: EquivalenceRow) -> str:
    if row.low is None or row.high is None:
        return ""
    return f"[{number(row.low, _DECIMALS)}, {number(row.high, _DECIMALS)}]"
