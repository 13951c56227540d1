"""How rankings under several conditions are printed: taus, agreement, mechanism (Kim et al. 2026)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analysis.printing.render import Column, Entry, Report, Sheet, Tone, number
from analysis.ranking.condition_table import ConditionRanking
from analysis.ranking.conditions import MEANINGS as TAU_STATES
from analysis.ranking.conditions import ResampledTaus, TauBetween
from analysis.ranking.mechanism import ALONE, LEVELS, Explained, HumanAgreement
from analysis.ranking.mechanism import MEANINGS as MECHANISM_STATES
from analysis.ranking.ranks_layout import rank_sheet

_INTRODUCTION = (
    "Systems ranked by their mean score under each condition, over the segments that all systems have in all "
    "conditions; scores of several annotators of a segment are averaged first. Higher scores are better."
)
_ROWS_ON_A_SCREEN = 20
_BLIND = "∅"


def as_report(ranking: ConditionRanking) -> Report:
    """Lay everything out; what a table has no data for has no sheet. Ranks of metrics are for files."""
    ranks = [rank_sheet(ranking, metric, long=place > 0) for place, metric in enumerate(ranking.metrics)]
    overall = [row for row in ranking.taus if row.domain is None]
    by_domain = [row for row in ranking.taus if row.domain is not None]
    sheets = [
        ranks[0],
        tau_sheet(ranking, overall),
        tau_sheet(ranking, by_domain),
        reliability_sheet(ranking),
        agreement_sheet(ranking),
        mechanism_sheet(ranking),
        *ranks[1:],
    ]
    return Report(
        title="Rankings of systems by condition",
        introduction=(_INTRODUCTION,),
        sheets=tuple(sheet for sheet in sheets if sheet is not None),
        legend=_legend(ranking),
        notes=tuple(notes(ranking)),
    )


def tau_sheet(ranking: ConditionRanking, rows: Sequence[TauBetween]) -> Sheet | None:
    """Kendall's tau-b between conditions, with its bootstrap; ``None`` without two conditions."""
    if not rows:
        return None
    domains = rows[0].domain is not None
    threshold = ranking.options.tau_min
    columns = [Column("metric", "left"), Column("domain", "left"), Column("conditions", "left")]
    columns += map(
        Column, ("τ", "C − D / pairs", "resampled mean", f"{ranking.options.confidence:.0%} range")
    )
    columns += map(Column, (f"below {threshold.text}", "same or next rank", "segments", "documents"))
    body = []
    for row in rows:
        tau, resampled = row.tau, row.resampled
        entries = [Entry(row.metric), Entry(row.domain or ""), Entry(f"{row.first} – {row.second}")]
        if tau is None or tau.tau is None:
            entries += [Entry(row.state, tone="neutral"), Entry()]
        else:
            mark = _BLIND if row.same_scores else "●" if row.reaches else "○"
            tone: Tone = "neutral" if row.same_scores else "good" if row.reaches else "bad"
            entries.append(Entry(number(tau.tau, 3), mark=mark, tone=tone))
            entries.append(Entry(f"{number(tau.net, 0)}/{tau.pairs}"))
        entries += [Entry(_mean(resampled)), Entry(_span(resampled))]
        entries.append(Entry("" if resampled is None else _percent(resampled.below)))
        entries.append(Entry("" if row.adjacent is None else f"{row.adjacent} of {row.systems}"))
        entries += [Entry(str(row.units)), Entry(str(row.documents))]
        body.append(tuple(entries))
    if not domains:
        columns.pop(1)
        body = [(row[0], *row[2:]) for row in body]
    caption = [
        "Kendall's τ-b between the rankings of two conditions (C concordant, D discordant pairs of systems; "
        "the denominator of τ leaves out tied pairs).",
        _resampling_sentence(ranking),
        "A resampled τ is lower on average than that of all documents.",
        f"Below {threshold.text}: share of resamples{_net(ranking, rows)}.",
    ]
    caption += _state_sentences({row.state for row in rows}, TAU_STATES)
    undefined = sum(row.resampled.undefined for row in rows if row.resampled is not None)
    if undefined:
        caption.append(f"{undefined} resamples without a ranking are in no number.")
    label, title = (
        ("taus-domains", "τ between conditions, by domain") if domains else ("taus", "τ between conditions")
    )
    long = len(body) > _ROWS_ON_A_SCREEN
    return Sheet(label, title, tuple(caption), tuple(columns), tuple(body), long=long)


def _net(ranking: ConditionRanking, rows: Sequence[TauBetween]) -> str:
    """What the threshold means in whole pairs, for each number of systems."""
    sizes = sorted({row.tau.pairs for row in rows if row.tau is not None})
    needed = (f"C − D at least {ranking.options.tau_min.net_needed(pairs)} of {pairs}" for pairs in sizes)
    return f"; without ties, {' or '.join(needed)} is not below" if sizes else ""


def reliability_sheet(ranking: ConditionRanking) -> Sheet | None:
    """How well each condition agrees with itself; ``None`` where nothing could be resampled."""
    rows = [row for row in ranking.reliability if row.halves is not None or row.judges is not None]
    if not rows:
        return None
    judged = any(row.judges is not None for row in rows)
    columns = [Column("metric", "left"), Column("condition", "left")]
    names = ["halves of judgements"] if judged else []
    names += ["halves of documents", "resampled documents against all"]
    for name in names:
        columns += [Column(f"τ, {name}"), Column("range")]
    body = []
    for row in rows:
        cells = [row.judges] if judged else []
        entries = [Entry(row.metric), Entry(row.condition)]
        for cell in (*cells, row.halves, row.against_all):
            entries += [Entry(_mean(cell)), Entry(_span(cell))]
        body.append(tuple(entries))
    caption = [
        "How far a condition agrees with itself: the baseline for τ between conditions, means over random "
        "draws.",
        "Halves of documents share no translation and have half the documents: lower than what two "
        "conditions on the same documents can reach.",
    ]
    if judged:
        splits = max(row.judges.resamples for row in rows if row.judges is not None)
        caption.append(
            f"Halves of judgements ({splits} splits): the same translations judged by others, the nearest to "
            "what two conditions could reach, with half the judgements each."
        )
    caption.append(_resampling_sentence(ranking))
    long = len(body) > _ROWS_ON_A_SCREEN
    return Sheet(
        "reliability", "τ within a condition", tuple(caption), tuple(columns), tuple(body), long=long
    )


def agreement_sheet(ranking: ConditionRanking) -> Sheet | None:
    """Human-metric agreement by condition; ``None`` without human scores or metrics."""
    if not ranking.agreement:
        return None
    found = {(row.metric, row.condition): row for row in ranking.agreement}
    metrics = list(dict.fromkeys(row.metric for row in ranking.agreement))
    columns = [Column("metric", "left"), *map(Column, ranking.conditions), Column("systems")]
    columns.append(Column("documents"))
    body = []
    for metric in metrics:
        rows = [found.get((metric, condition)) for condition in ranking.conditions]
        some = next(row for row in rows if row is not None)
        counts = (Entry(str(some.systems)), Entry(str(some.documents)))
        body.append((Entry(metric), *map(_agreement_entry, rows), *counts))
    caption = [
        f"Kendall's τ-b between the system means of {ranking.gold} and of each metric, on the same "
        "documents.",
        _resampling_sentence(ranking),
        *_state_sentences({row.state for row in ranking.agreement}, MECHANISM_STATES),
    ]
    title = f"Agreement of metrics with {ranking.gold}"
    return Sheet("agreement", title, tuple(caption), tuple(columns), tuple(body))


def _agreement_entry(row: HumanAgreement | None) -> Entry:
    if row is None:
        return Entry()
    if row.tau is None or row.tau.tau is None:
        return Entry(row.state, tone="neutral")
    span = _span(row.resampled)
    return Entry(number(row.tau.tau, 3) + (f" ({span})" if span else ""))


def mechanism_sheet(ranking: ConditionRanking) -> Sheet | None:
    """R² of each condition on the segments alone; ``None`` without such scores."""
    if not ranking.mechanism:
        return None
    found = {(row.metric, row.level, row.condition): row for row in ranking.mechanism}
    metrics = list(dict.fromkeys(row.metric for row in ranking.mechanism))
    conditions = [name for name in ranking.conditions if name != ALONE]
    columns = [Column("metric", "left"), Column("points", "left")]
    columns += [Column(f"{condition} on {ALONE}") for condition in conditions]
    columns.append(Column("number of points"))
    body = []
    for metric in metrics:
        for level in LEVELS:
            rows = [found.get((metric, level, condition)) for condition in conditions]
            counts = dict.fromkeys(str(row.points) for row in rows if row is not None)
            entries = (Entry(metric), Entry(f"{level}s"), *map(_r2_entry, rows))
            body.append((*entries, Entry(", ".join(counts))))
    caption = [
        "R² of a least-squares line through the scores of the same translations in a condition and in "
        f"{ALONE}: the share of the condition's variance that the segments alone explain.",
        "Points are a system's segments, its documents (means) or the systems (means).",
        _resampling_sentence(ranking),
        *_state_sentences({row.state for row in ranking.mechanism}, MECHANISM_STATES),
    ]
    long = len(body) > _ROWS_ON_A_SCREEN
    title = f"Share of scores explained by {ALONE}"
    return Sheet("mechanism", title, tuple(caption), tuple(columns), tuple(body), long=long)


def _r2_entry(row: Explained | None) -> Entry:
    if row is None:
        return Entry()
    if row.r2 is None:
        return Entry(row.state, tone="neutral")
    span = "" if row.interval is None else f" ({_range(row.interval)})"
    return Entry(number(row.r2, 3) + span)


def notes(ranking: ConditionRanking) -> Iterable[str]:
    """What each metric's numbers rest on, and what was left out, as sentences."""
    for metric in ranking.metrics:
        yield (
            f"{metric.metric}: {len(metric.systems)} systems, {metric.units} segments in {metric.documents} "
            f"documents, conditions {', '.join(metric.conditions) or 'none'}."
        )
        if metric.left_out:
            yield f"{metric.metric}: not ranked, no scores in some condition: {', '.join(metric.left_out)}."
        if metric.incomplete:
            yield (
                f"{metric.metric}: {metric.incomplete} segments left out, not all systems have them "
                "in all conditions."
            )
        if metric.incomplete > metric.units > 0:
            yield (
                f"WARNING, {metric.metric}: most segments are left out, so that every system is ranked on "
                f"the {metric.units} that all have. A system with few segments does this: rank without it."
            )
        if metric.missing:
            yield f"{metric.metric}: {metric.missing} judgements without a score."
    if ranking.gold is None:
        yield "No human scores: no agreement of metrics with people."


def _legend(ranking: ConditionRanking) -> tuple[tuple[str, str], ...]:
    text = ranking.options.tau_min.text
    shown = {_BLIND if row.same_scores else row.reaches for row in ranking.taus}
    marks = (
        ("●", f"τ not below {text}", True),
        ("○", f"τ below {text}", False),
        (_BLIND, "the same scores in both conditions: blind by construction to what they differ in", _BLIND),
    )
    return tuple((mark, meaning) for mark, meaning, answer in marks if answer in shown)


def _resampling_sentence(ranking: ConditionRanking) -> str:
    options = ranking.options
    return (
        f"Ranges hold {options.confidence:.0%} of {options.resamples} resamples of whole documents, the same "
        f"for all conditions (seed {options.seed}): they describe how a number varies with the documents, "
        "and test nothing."
    )


def _state_sentences(states: set[str], meanings: dict[str, str]) -> list[str]:
    return [f"{state}: {meaning}." for state, meaning in meanings.items() if state in states]


def _mean(resampled: ResampledTaus | None) -> str:
    return "" if resampled is None else number(resampled.mean, 3)


def _span(resampled: ResampledTaus | None) -> str:
    return "" if resampled is None or resampled.interval is None else _range(resampled.interval)


def _range(interval: tuple[float, float]) -> str:
    return f"{number(interval[0], 3)} to {number(interval[1], 3)}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{number(100 * share, 1)} %"
