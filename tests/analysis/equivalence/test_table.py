"""The equivalence table: methods, defaults, verdicts, power, warnings; and how often the default errs."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from analysis.equivalence.layout import as_report, warning_lines
from analysis.equivalence.methods import default_method, estimate
from analysis.equivalence.options import Design, EquivalenceOptions, Method
from analysis.equivalence.pairs import PairTable, ScorePairs, pairs_from_judgements
from analysis.equivalence.records import as_document, as_records
from analysis.equivalence.table import EquivalenceRow, EquivalenceTable, equivalence, smallest_margin
from analysis.judgements import read_judgements
from analysis.printing.latex import to_latex
from analysis.printing.render import to_csv, to_markdown
from challenge_sets import InputError
from challenge_sets.files import dump_json

RNG = np.random.default_rng(3)


def source(
    metric: str | None = None,
    *,
    doc: bool = True,
    annotator: bool = True,
    documents: int = 12,
    annotators: int = 11,
    shift: float = 0.0,
    rows: int = 240,
) -> ScorePairs:
    docs, people = np.arange(rows) % documents, (np.arange(rows) // documents) % annotators
    first = np.round(RNG.normal(80, 8, rows))
    second = first + shift + np.round(RNG.normal(0, 4, rows))
    domain = docs % 2
    return ScorePairs(metric, first, second, docs if doc else None, people if annotator else None, domain)


def table(*sources: ScorePairs) -> PairTable:
    return PairTable(Path("pairs.csv"), "DOC", "MIX", sources, ("news", "social"))


def build(*sources: ScorePairs, **options: object) -> EquivalenceTable:
    settings = {"margins": (1.0, 3.0), "resamples": 200} | options
    return equivalence(table(*sources), EquivalenceOptions(**settings))  # type: ignore[arg-type]


def rows_of(found: EquivalenceTable, **wanted: object) -> list[EquivalenceRow]:
    return [row for row in found.rows if all(getattr(row, name) == value for name, value in wanted.items())]


@pytest.mark.parametrize(
    ("doc", "annotator", "design", "default"),
    [
        (True, True, Design.PAIRED, Method.TWO_WAY),
        (True, False, Design.PAIRED, Method.DOCUMENT),
        (False, True, Design.PAIRED, Method.ANNOTATOR),
        (False, False, Design.PAIRED, Method.NAIVE),
        (True, True, Design.UNPAIRED, Method.TWO_WAY),
        (True, True, Design.PER_ANNOTATOR, Method.ANNOTATOR_MEANS),
    ],
)
def test_defaults(doc: bool, annotator: bool, design: Design, default: Method) -> None:
    found = build(source(doc=doc, annotator=annotator), design=design)
    assert {row.method for row in found.rows if row.default} == {default}
    assert Method.NAIVE in {row.method for row in found.rows}
    # One row a domain (and all), method and margin.
    assert len(found.rows) == 3 * 2 * len({row.method for row in found.rows})


def test_rows_are_the_estimates_tested() -> None:
    given = source("human", shift=1.5)
    found = build(given, alpha=0.1)
    for row in rows_of(found, domain="all", margin=3.0):
        expected = estimate(given, row.method, found.options)
        assert row.estimate == expected
        assert (row.low, row.high) == expected.interval(0.8)
        assert (row.log10_p_lower, row.log10_p_upper) == expected.one_sided(3.0)
        assert row.log10_p == max(expected.one_sided(3.0) or ())
        assert row.low is not None and row.high is not None and row.shown_within is not None
        if row.method is not Method.BOOTSTRAP:
            # The interval lies within the margin exactly where both tests reject.
            assert (row.shown_within < row.margin) == (row.log10_p < math.log10(0.1))
    news = rows_of(found, domain="news", margin=3.0, method=Method.TWO_WAY)[0]
    assert given.domain is not None
    assert news.estimate == estimate(given.rows(given.domain == 0), Method.TWO_WAY, found.options)


def test_the_four_verdicts() -> None:
    def verdict(shift: float, margin: float, rows: int = 2400) -> str:
        found = build(source(shift=shift, rows=rows), margins=(margin,))
        return next(row.verdict for row in found.rows if row.default and row.domain == "all")

    assert verdict(0.0, 2.0) == "equivalent"
    assert verdict(5.0, 2.0) == "different"
    assert verdict(1.0, 2.0) == "both (different but negligible)"
    assert verdict(0.0, 0.02) == "inconclusive"


@pytest.mark.data
def test_shared_cases(cases: Path) -> None:
    for case in json.loads((cases / "statistics" / "tost.json").read_text("utf-8")):
        if "bound" not in case:
            continue
        given = case["differences"]
        second = np.array([math.nan if value is None else value for value in given])
        pairs = ScorePairs(None, np.zeros(len(given)), second, None, None, None)
        row = equivalence(table(pairs), EquivalenceOptions((case["bound"],))).rows[0]
        if case["right"].startswith("the missing"):
            assert (row.estimate.n, row.estimate.missing) == (4, 1) and row.log10_p is not None
        else:
            assert case["right"].startswith(row.verdict)
            assert (row.log10_p is None) == (row.verdict == "degenerate")


def test_smallest_margin_has_the_power() -> None:
    # Known SE: P(both reject | no difference) of normals.
    margin = smallest_margin(1.0, math.inf, alpha=0.05, power=0.8)
    assert 2 * stats.norm.cdf(margin - stats.norm.ppf(0.95)) - 1 == pytest.approx(0.8)
    # Estimated SE, by simulation.
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(20_000, 30))
    mean, se = samples.mean(axis=1), samples.std(axis=1, ddof=1) / math.sqrt(30)
    margin = smallest_margin(1 / math.sqrt(30), 29, alpha=0.05, power=0.8)
    shown = np.abs(mean) + stats.t.ppf(0.95, 29) * se < margin
    assert shown.mean() == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"margins": ()}, "no equivalence margin"),
        ({"margins": (3.0, -1.0)}, "the margin is -1"),
        ({"margins": (0.0,)}, "the margin is 0"),
        ({"margins": (math.nan,)}, "the margin is nan"),
        ({"alpha": 0.5}, "alpha is 0.5"),
        ({"resamples": 99}, "99 resamples"),
        ({"seed": -1}, "the seed is -1"),
        ({"method": Method.TWO_WAY}, "needs a column that the table lacks"),
        ({"method": Method.ANNOTATOR_MEANS}, "is none of the paired design"),
        ({"design": Design.PER_ANNOTATOR}, "needs annotators"),
    ],
)
def test_wrong_options(options: dict[str, object], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        build(source(annotator=False), **options)


def warned(found: EquivalenceTable, **wanted: object) -> str:
    return " / ".join(dict.fromkeys(w for row in rows_of(found, **wanted) for w in row.warnings))


def test_warnings() -> None:
    few = build(source(annotators=2, rows=600), margins=(3.0,))
    two_way = warned(few, domain="all", method=Method.TWO_WAY)
    assert "2 annotators: fewer than 10" in two_way
    assert "1.0 degrees of freedom: the interval reaches 6.3 standard errors" in two_way
    assert "too narrow" in warned(few, domain="all", method=Method.BOOTSTRAP)
    assert "holds for these annotators" in warned(few, domain="all", method=Method.DOCUMENT)
    assert not warned(few, domain="all", method=Method.NAIVE)
    one = build(source(annotators=1))
    assert rows_of(one, default=True)[0].verdict == "too few"
    assert "1 annotator: nothing can be said of other annotators" in warned(one, default=True)
    assert warned(build(source(documents=20, annotators=12, rows=960)), domain="all", default=True) in (
        "",
        "the two-way variance is below both one-way variances: compare their rows",
    )
    assert "not known" in warned(build(source(doc=False, annotator=False)), method=Method.NAIVE)
    assert "holds for these documents" in warned(build(source(), design=Design.PER_ANNOTATOR), default=True)


def test_a_chosen_method_gives_the_verdict_where_it_can() -> None:
    found = build(source("human"), source("chrF", annotator=False), method=Method.BOOTSTRAP)
    assert {row.method for row in found.rows if row.default} == {Method.BOOTSTRAP}
    found = build(source("human"), source("chrF", annotator=False), method=Method.TWO_WAY)
    assert {(row.metric, row.method) for row in found.rows if row.default} == {
        ("human", Method.TWO_WAY),
        ("chrF", Method.DOCUMENT),
    }
    assert "two-way needs what is not known here, so document stands in" in warned(
        found, metric="chrF", default=True
    )
    assert "stands in" not in warned(found, metric="human")


def test_default_methods_cover_every_clustering() -> None:
    assert default_method((Method.NAIVE, Method.DOCUMENT)) is Method.DOCUMENT
    assert default_method((Method.NAIVE,)) is Method.NAIVE


def test_printed_and_written() -> None:
    found = build(source("human", shift=2.2, annotators=11), source("chrF", annotators=1), source("COMET_22"))
    report = as_report(found)
    short, long = report.sheets
    pairs = list(found.beside_naive)
    # Three sources, each whole and by two domains, at two margins.
    assert len(short.rows) == len(pairs) == 18
    changed = sum(naive.verdict != default.verdict for naive, default in pairs)
    marked = sum(any("≠" in entry.mark for entry in row) for row in short.rows)
    assert marked == changed
    assert f"The two verdicts differ in {changed} of 18 rows." in short.caption
    assert len(long.rows) == len(found.rows)
    document = as_document(found)
    text = dump_json(document)
    assert "NaN" not in text and document["configuration"]["difference"] == "MIX - DOC"
    promised = (
        "metric domain method default margin n missing difference mean_doc mean_mix se df low high "
        "log10_p_lower log10_p_upper log10_p log10_p_difference verdict warnings"
    )
    assert set(document["results"][0]) >= set(promised.split())
    records = as_records(found)
    assert "nan" not in to_csv(list(records[0]), records)
    for spelled in (to_markdown(report), to_latex(report)):
        assert "chrF" in spelled and "inconclusive" in spelled
    assert any("1 annotator" in line for line in warning_lines(found))


def test_warning_lines_count_what_they_do_not_name() -> None:
    found = build(*(source(f"m{number}", annotators=3) for number in range(4)))
    (line,) = [line for line in warning_lines(found) if "3 annotators" in line]
    # Four sources, each whole and by two domains.
    assert sum("In 80% of samples" in sentence for sentence in as_report(found).sheets[0].caption) == 4
    assert line.startswith("m0/two-way, m0/news/two-way, m0/social/two-way, m1/two-way and 8 more:")


def test_power_of_many_sources_is_a_range() -> None:
    found = build(*(source(f"m{number}") for number in range(6)))
    sizes = [row.smallest_margin or 0.0 for row in rows_of(found, default=True, domain="all", margin=3.0)]
    (sentence,) = [text for text in as_report(found).sheets[0].caption if "In 80% of samples" in text]
    assert f"margins of {min(sizes):.3f} to {max(sizes):.3f}" in sentence


def test_judgements_with_other_annotators_cluster_by_document(tmp_path: Path) -> None:
    lines = ["condition,system,doc,segment,annotator,score"]
    for number in range(60):
        for condition, person in (("DOC", f"a{number % 3}"), ("MIX", f"b{number % 4}")):
            lines.append(f"{condition},A,d{number % 12},{number},{person},{70 + RNG.integers(20)}")
    path = tmp_path / "judgements.csv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    pairs = pairs_from_judgements(read_judgements(path))
    found = equivalence(pairs, EquivalenceOptions((5.0,), resamples=200))
    assert {row.method for row in found.rows if row.default} == {Method.DOCUMENT}
    assert "different annotators scored the two conditions" in warned(found, default=True)
    assert as_document(found)["sources"][0]["paired_by"] == "unit mean"


def test_false_equivalence_at_the_margin() -> None:
    """23 documents × 10 annotators, the true difference exactly at the margin: nominal 5 %."""
    rng = np.random.default_rng(20)
    wrong = {Method.NAIVE: 0, Method.TWO_WAY: 0}
    options = EquivalenceOptions((3.0,))
    for _ in range(400):
        doc, people = rng.integers(23, size=3070), rng.integers(10, size=3070)
        differences = 3.0 + np.sqrt(62) * rng.normal(size=3070)
        differences += np.sqrt(0.84) * rng.normal(size=23)[doc] + np.sqrt(0.93) * rng.normal(size=10)[people]
        pairs = ScorePairs(None, np.zeros(3070), differences, doc, people, None)
        for method in wrong:
            sides = estimate(pairs, method, options).one_sided(3.0)
            wrong[method] += sides is not None and max(sides) < math.log10(0.05)
    assert wrong[Method.NAIVE] > 0.18 * 400
    assert wrong[Method.TWO_WAY] <= 0.08 * 400
