"""How a study of annotations is printed: errors, equivalence, attention checks, times."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.annotations.checks import ALL_ANNOTATORS, CheckOutcome
from analysis.annotations.comparison import MEANINGS, Comparison
from analysis.annotations.errors import PER_CHARACTERS, ErrorRates, Part
from analysis.annotations.records import BOUNDARY
from analysis.annotations.study import AnnotationStudy
from analysis.annotations.times import TimeSpent
from analysis.printing.render import Column, Entry, Report, Sheet, Tone, number
from analysis.statistics.significance import p_text
from challenge_sets.annotations import SPAN_SEVERITIES

_TONES: dict[str, Tone] = {
    "equivalent": "good",
    "both (different but negligible)": "good",
    "different": "bad",
    "inconclusive": "doubtful",
}
_PARTS: dict[Part, str] = {
    "condition": "Errors by condition",
    "campaign": "Errors by campaign",
    "system": "Errors by system",
    "domain": "Errors by domain",
}


def as_report(study: AnnotationStudy) -> Report:
    """Lay the study out; what is by system, campaign or annotator stands in long sheets."""
    sheets = [_campaigns(study)]
    for part in _PARTS:
        rates = [found for found in study.rates if found.part == part]
        if rates:
            sheets.append(_errors(study, part, rates))
    if study.comparisons:
        sheets.append(_equivalence(study))
    if study.checks:
        sheets += [_checks(study, people) for people in (False, True)]
    sheets += [_times(study, people) for people in (False, True)]
    return Report(
        title="Error annotations",
        introduction=(
            "Real annotations only: no tutorial, no damaged translation, no filler copy, and of an item that "
            "was saved again the last save. Omissions are errors; they have no place in the translation.",
        ),
        sheets=tuple(sheets),
        notes=tuple(f"{variant}: {meaning}." for variant, meaning in MEANINGS.items())
        if study.comparisons
        else (),
    )


def _campaigns(study: AnnotationStudy) -> Sheet:
    rows = []
    for condition, campaigns in study.campaigns.items():
        for campaign in campaigns:
            people = {found.annotator for found in campaign.real()}
            cells = [condition, campaign.path.name, campaign.protocol, str(len(campaign.saves))]
            cells += [str(count) for count in campaign.counts().values()]
            rows.append(_entries(*cells, str(len(people))))
    columns = [Column("condition", "left"), Column("campaign", "left"), Column("protocol", "left")]
    columns += map(Column, ("rows", "real", "attention checks", "fillers", "tutorial", "annotators"))
    caption = "Rows include earlier saves; the other columns count the last save of each item."
    return Sheet("campaigns", "Campaigns", (caption,), tuple(columns), tuple(rows))


def _errors(study: AnnotationStudy, part: Part, rates: Sequence[ErrorRates]) -> Sheet:
    level = f"{1.0 - study.options.alpha:.0%}"
    columns = [Column("condition", "left")]
    if part != "condition":
        columns.append(Column(part, "left"))
    columns += map(
        Column,
        (
            "annotations",
            "errors",
            "of these omissions",
            "per annotation",
            f"{level} interval",
            f"per {PER_CHARACTERS:,} characters",
            "error-free %",
            *(f"{severity} %" for severity in SPAN_SEVERITIES),
            "near boundary %",
            "baseline %",
            "excess, points",
            f"{level} interval",
        ),
    )
    rows = []
    for found in rates:
        cells = [found.condition] + ([found.name] if part != "condition" else [])
        cells += [str(found.annotations), str(found.errors), str(found.omissions)]
        # Why there is no interval stands in its place.
        between = _span(found.interval, 3) if found.state == "ok" else found.state
        cells += [number(found.mean, 3), between, number(found.per_1000, 2)]
        cells.append(_percent(found.error_free_share))
        shares = found.severity_shares
        cells += [_percent(shares[name] if shares else None) for name in SPAN_SEVERITIES]
        place = found.boundary
        excess = None if place.excess_interval is None else tuple(100 * end for end in place.excess_interval)
        cells += [_percent(place.share), _percent(place.baseline), _percent(place.excess)]
        cells.append(_span(excess, 1) if excess else "")
        rows.append(_entries(*cells))
    caption = [
        "Errors per annotation with an interval robust to correlation within documents (CR2). Shares of "
        "severities are of all errors; an annotation without any is error-free.",
        f"Near boundary: {BOUNDARY}.",
    ]
    lacking = sum(found.without_text for found in rates)
    if lacking:
        caption.append(
            f"{lacking} annotations whose text is not known are in no count per {PER_CHARACTERS:,} "
            "characters and in no boundary share."
        )
    return Sheet(
        f"errors-by-{part}", _PARTS[part], tuple(caption), tuple(columns), tuple(rows), long=part == "system"
    )


def _equivalence(study: AnnotationStudy) -> Sheet:
    options = study.options
    columns = (
        Column("first", "left"),
        Column("second", "left"),
        Column("counted", "left"),
        Column("outputs"),
        Column("mean, first"),
        Column("mean, second"),
        Column("difference"),
        Column(f"{1.0 - 2.0 * options.alpha:.0%} interval"),
        Column("p of equivalence"),
        Column("p of difference"),
        Column("verdict", "left"),
        Column("detectable"),
        Column("naive p of equivalence"),
        Column("error-free, points"),
        Column("near boundary, points"),
    )
    clusters = sorted({name for found in study.comparisons for name in found.clustered_by})
    caption = (
        "Errors per output, first minus second, on the outputs that both conditions have. Equivalence: TOST "
        f"against ±{options.margin:g} errors, a margin fixed beforehand, at alpha = {options.alpha:g}; the "
        "variants look at one claim in several ways, so p-values are unadjusted.",
        f"Standard errors are robust to correlation within each of: {', '.join(clusters)} (multiway CR1, t "
        "with G − 1 degrees of freedom of the factor with fewest levels). The naive p is of a paired t-test, "
        "which takes all outputs to be independent; it claims too much.",
        "Detectable: the difference that a test at this alpha would find with 80 % power. Points: first "
        "minus second, of the shares of error-free outputs and of spans near a boundary.",
    )
    rows = tuple(_comparison_row(found) for found in study.comparisons)
    return Sheet("equivalence", "Equivalence of error counts", caption, columns, rows)


def _comparison_row(found: Comparison) -> tuple[Entry, ...]:
    test = found.test
    return (
        *_entries(
            found.first.condition,
            found.second.condition,
            str(found.variant),
            str(found.outputs),
            number(found.first.mean, 3),
            number(found.second.mean, 3),
            number(test.estimate.mean, 3),
            _span(found.tost_interval, 3),
            _p(test.tost.log10_p if test.tost else None),
            _p(test.log10_p_difference),
        ),
        Entry(test.verdict, tone=_TONES.get(test.verdict, "neutral")),
        *_entries(
            number(found.smallest_detectable, 3),
            _p(found.naive_log10_p),
            number(found.error_free_points, 1),
            number(found.boundary_points, 1),
        ),
    )


def _checks(study: AnnotationStudy, people: bool) -> Sheet:
    chosen = [found for found in study.checks if (found.annotator != ALL_ANNOTATORS) == people]
    columns = [Column("condition", "left")] + ([Column("annotator", "left")] if people else [])
    columns += map(Column, ("damaged outputs", "lower", "equal", "higher", "no other", "lower %"))
    columns += [Column(f"{1.0 - study.options.alpha:.0%} interval")]
    if people:
        columns += [Column("p against chance"), Column("attentive", "left")]
    caption = [
        "Damaged translations beside the same output undamaged, judged by the same login where there is one; "
        "no other: nobody judged it undamaged. Interval: Wilson"
        + ("." if people else ", adjusted for annotators who differ.")
    ]
    if people:
        caption.append(
            "Attentive: lower more often than chance allows, by a one-sided sign test at "
            f"alpha = {study.options.alpha:g}; an equal judgement counts against."
        )
    rows = tuple(_check_row(found, people) for found in chosen)
    label, title = (
        ("attention-by-annotator", "Attention checks by annotator")
        if people
        else ("attention", "Attention checks")
    )
    return Sheet(label, title, tuple(caption), tuple(columns), rows, long=people)


def _check_row(found: CheckOutcome, people: bool) -> tuple[Entry, ...]:
    cells = [found.condition] + ([found.annotator] if people else [])
    cells += map(str, (found.compared + found.unmatched, found.lower, found.equal, found.higher))
    cells += [str(found.unmatched), _percent(found.share)]
    between = found.interval
    cells.append(_span((100 * between[0], 100 * between[1]), 1) if between else "")
    if not people:
        return _entries(*cells)
    verdict = Entry()
    if found.attentive is not None:
        verdict = Entry("yes", tone="good") if found.attentive else Entry("no", tone="bad")
    return (*_entries(*cells, _p(found.log10_p)), verdict)


def _times(study: AnnotationStudy, people: bool) -> Sheet:
    chosen = [found for found in study.times if (found.annotator != ALL_ANNOTATORS) == people]
    columns = [Column("condition", "left")] + ([Column("annotator", "left")] if people else [])
    columns += map(Column, ("segments", "median, s", "mean, s", "pauses left out", "without a next start"))
    caption = (
        "Seconds from the start of a segment to the login's next start, whatever that is of. Longer ones "
        f"than {study.options.pause:g} s are pauses.",
    )
    label, title = (
        ("times-by-annotator", "Time per segment by annotator") if people else ("times", "Time per segment")
    )
    rows = tuple(_time_row(found, people) for found in chosen)
    return Sheet(label, title, caption, tuple(columns), rows, long=people)


def _time_row(found: TimeSpent, people: bool) -> tuple[Entry, ...]:
    cells = [found.condition] + ([found.annotator] if people else [])
    cells += [str(found.used), number(found.median, 1), number(found.mean, 1)]
    return _entries(*cells, str(found.pauses), str(found.last))


def _entries(*texts: str) -> tuple[Entry, ...]:
    return tuple(map(Entry, texts))


def _percent(share: float | None) -> str:
    return number(None if share is None else 100 * share, 1)


def _span(ends: Sequence[float] | None, decimals: int) -> str:
    return "" if ends is None else f"[{number(ends[0], decimals)}, {number(ends[1], decimals)}]"


def _p(log10_p: float | None) -> str:
    return "" if log10_p is None else p_text(log10_p)
