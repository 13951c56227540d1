"""How the ranking of metrics is printed: accuracies with clusters, correlations, the comparisons made."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.printing.render import Column, Entry, Report, Sheet, number
from analysis.ranking.benchmark import FROM_MEAN
from analysis.ranking.correlations import Correlations
from analysis.ranking.exchange import Statistic
from analysis.ranking.metrics_table import MetricRanking, MetricRow, State, Unit
from analysis.ranking.permutations import FEW_UNITS

TITLES: dict[Statistic, str] = {
    Statistic.ACCURACY: "system pairwise accuracy of mean segment scores",
    Statistic.SOFT: "soft pairwise accuracy",
    Statistic.SEGMENT: "tie-calibrated segment accuracy",
    Statistic.SYSTEM_PEARSON: "Pearson's r of mean segment scores of systems",
    Statistic.SEGMENT_PEARSON: "Pearson's r of all segment scores",
}

MEANINGS: dict[State, str] = {
    State.ONE_SYSTEM: "one system: nothing can be ranked",
    State.NO_SEGMENTS: "no segment scores: nothing can be said of segments, nor tested",
    State.NOT_SHARED: "no segment in common: the metric scored nothing that humans did",
    State.CONSTANT: "constant scores: every translation has the same score, all values follow from ties",
}

_INTRODUCTION = (
    "How well each metric ranks systems and translations, held against human scores. "
    "All values: higher is better, 1 is perfect."
)


def as_report(ranking: MetricRanking) -> Report:
    """Lay the ranking out: accuracies and correlations; for files also those by group, and comparisons."""
    return Report(
        title=f"Metrics against {ranking.benchmark.gold.name} on {ranking.benchmark.lang_pair}",
        introduction=(_INTRODUCTION,),
        sheets=(_accuracies(ranking), _correlations(ranking), _by_group(ranking), _comparisons(ranking)),
        notes=tuple(notes(ranking)),
    )


def notes(ranking: MetricRanking) -> Iterable[str]:
    """What a reader must know of this run, as sentences: data, what was left out, states, tests."""
    benchmark, options, gold = ranking.benchmark, ranking.options, ranking.benchmark.gold
    yield (
        f"{len(benchmark.systems)} systems, {benchmark.segment_count} segments, {gold.segments_rated} of "
        f"them with a human score ({gold.name}; system scores: {_source(gold.system_from)})."
    )
    if benchmark.left_out:
        listed = ", ".join(f"{name} ({reason})" for name, reason in benchmark.left_out.items())
        yield f"Not ranked: {listed}."
    if ranking.gold_ties.rate is not None:
        hidden = ranking.gold_ties.hidden
        more = f"; {hidden} of the ties are stored as numbers that differ by rounding" if hidden else ""
        yield f"Human ties: {_percent(ranking.gold_ties.rate)} of {ranking.gold_ties.pairs} pairs{more}."
    unit = "documents" if options.by is Unit.DOCUMENT else "segments"
    yield (
        f"Soft accuracy and clusters: {options.permutations} permutations (seed {options.seed}) that "
        f"exchange whole {unit}."
    )
    if options.by is Unit.SEGMENT and benchmark.documents and ranking.units > len(set(benchmark.documents)):
        yield (
            "Where a metric is wrong about whole documents, exchanging single segments finds too many "
            "differences: compare with --by document."
        )
    yield (
        f"Clusters by {TITLES[options.statistic]}: a metric significantly worse than one of the cluster "
        f"above (two-sided p < {options.alpha:g}, unadjusted) opens the next."
    )
    if ranking.units < FEW_UNITS:
        yield f"With {ranking.units} {unit} no permutation test can find p < 0.05."
    if options.statistic in (Statistic.ACCURACY, Statistic.SYSTEM_PEARSON):
        others = [row for row in ranking.rows if row.tested_on_means]
        if others:
            listed = ", ".join(f"{row.scores.label} {number(row.tested, 4)}" for row in others)
            yield f"System scores that are no means of segments; clusters take the means instead: {listed}."
    for state, meaning in MEANINGS.items():
        names = [row.scores.label for row in ranking.rows if row.state is state]
        if names:
            yield f"{', '.join(names)}: {meaning}."


def _source(system_from: str) -> str:
    return "means of segments" if system_from == FROM_MEAN else "from their file"


def _accuracies(ranking: MetricRanking) -> Sheet:
    columns = [Column("metric", "left"), Column("reference", "left"), Column("cluster")]
    columns += map(Column, ("system pairs", "accuracy", "soft accuracy", "segment accuracy", "threshold"))
    columns += map(Column, ("ties", "ties at threshold"))
    rows = tuple(
        (
            *_name(row),
            Entry("" if row.cluster is None else str(row.cluster)),
            Entry(f"{row.accuracy.agreeing}/{row.accuracy.pairs}"),
            *(
                Entry(number(value, 4))
                for value in (row.accuracy.accuracy, row.soft.accuracy, row.ties.accuracy)
            ),
            Entry("" if row.ties.threshold is None else f"{row.ties.threshold:.4g}"),
            Entry(_percent(row.all_ties.rate)),
            Entry(_percent(row.ties.calibrated_tie_rate)),
        )
        for row in ranking.rows
    )
    caption = (
        "Accuracy: share of pairs of systems that the metric orders as humans do (Kocmi et al. 2021); a tie "
        "on one side only is a disagreement.",
        "Soft accuracy: 1 minus the mean difference of p-values of pairs of systems (Thompson et al. 2024).",
        "Segment accuracy: share of pairs of translations of the same segment on which metric and humans "
        "agree, ties included, at the threshold of a tie that suits the metric best (Deutsch et al. 2023).",
        "Ties: pairs with the same score, over all segments; at the threshold: over those with human scores.",
    )
    return Sheet("accuracies", "Accuracies", caption, tuple(columns), rows)


_COEFFICIENTS = ("r", "rho", "tau")
_WHAT_THEY_ARE = "r: Pearson, rho: Spearman, tau: Kendall's tau-b."


def _correlations(ranking: MetricRanking) -> Sheet:
    columns = [Column("metric", "left"), Column("reference", "left")]
    columns += [Column(f"{level} {name}") for level in ("systems", "segments") for name in _COEFFICIENTS]
    rows = tuple((*_name(row), *_values(row.system), *_values(row.segment)) for row in ranking.rows)
    caption = (_WHAT_THEY_ARE, "Systems: of system scores; segments: of all segment scores at once.")
    return Sheet("correlations", "Correlations", caption, tuple(columns), rows)


def _by_group(ranking: MetricRanking) -> Sheet:
    columns = [Column("metric", "left"), Column("reference", "left")]
    columns += [Column(f"per item {name}") for name in _COEFFICIENTS]
    columns += map(Column, ("items", "constant items"))
    columns += [Column(f"per system {name}") for name in _COEFFICIENTS]
    columns.append(Column("constant systems"))
    rows = tuple(
        (
            *_name(row),
            *_values(row.item),
            Entry(str(row.item.groups)),
            Entry(str(row.item.constant)),
            *_values(row.per_system),
            Entry(str(row.per_system.constant)),
        )
        for row in ranking.rows
    )
    caption = (
        _WHAT_THEY_ARE,
        "Per item: mean over segments of the correlation across systems; per system: mean over systems of "
        "the correlation across segments.",
        "Where one side is constant there is no correlation: such items and systems are in no mean.",
    )
    return Sheet("correlations-by-group", "Correlations by group", caption, tuple(columns), rows, long=True)


def _comparisons(ranking: MetricRanking) -> Sheet:
    columns = (
        Column("metric", "left"),
        Column("compared with", "left"),
        *map(Column, ("difference", "p", "segments", "units")),
        Column("state", "left"),
    )
    rows = tuple(
        (
            Entry(each.first),
            Entry(each.second),
            Entry(number(each.difference, 4)),
            Entry("" if each.p is None else f"{each.p:.4g}"),
            Entry(str(each.segments)),
            Entry(str(each.units)),
            Entry(each.state),
        )
        for each in ranking.comparisons
    )
    caption = (f"Difference in {TITLES[ranking.options.statistic]}, with its two-sided permutation p-value.",)
    return Sheet("comparisons", "Comparisons behind the clusters", caption, columns, rows, long=True)


def _name(row: MetricRow) -> tuple[Entry, Entry]:
    return Entry(row.scores.name), Entry(row.scores.reference or "")


def _values(found: Correlations) -> tuple[Entry, ...]:
    return tuple(Entry(number(value, 3)) for value in (found.pearson, found.spearman, found.kendall))


def _percent(share: float | None) -> str:
    return "" if share is None else f"{number(100 * share, 1)} %"
