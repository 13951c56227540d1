"""Tau between conditions and within one, against loops over documents; units; degenerate tables."""

from __future__ import annotations

import json
import math
import random

import numpy as np
import pytest
from scipy.stats import kendalltau

from analysis.ranking import documents
from analysis.ranking.condition_layout import as_report, notes
from analysis.ranking.condition_records import COLUMNS, as_document, as_records
from analysis.ranking.condition_table import ConditionOptions, rank_conditions
from analysis.ranking.conditions import reliabilities, taus_between
from analysis.ranking.documents import document_sums, resampled_means, split_means
from analysis.ranking.judges import split_judgements, twice_judged
from analysis.ranking.units import complete_block, unit_table
from analysis.statistics.rank import tau_threshold
from analysis.statistics.resampling import resample_counts
from challenge_sets import InputError

TAU_MIN = tau_threshold("0.667")
SMALL = ConditionOptions(resamples=50)


def system_means(rows, metric, condition, docs=None) -> dict[str, float]:
    """Means by hand: annotators first, then segments; ``docs`` may name a document several times."""
    scores: dict[tuple[str, str, object], list[float]] = {}
    for row in rows:
        if row["metric"] == metric and row["condition"] == condition:
            scores.setdefault((row["system"], row["doc"], row["segment"]), []).append(row["score"])
    units = {key: sum(values) / len(values) for key, values in scores.items()}
    names = sorted({doc for _, doc, _ in units})
    means = {}
    for system in sorted({key[0] for key in units}):
        drawn = [
            value
            for doc in (names if docs is None else docs)
            for key, value in units.items()
            if key[0] == system and key[1] == doc
        ]
        means[system] = sum(drawn) / len(drawn)
    return means


def block_of(judgements, metric="human"):
    table = unit_table(judgements)
    return table, complete_block(table, metric)


@pytest.mark.parametrize("metric", ["human", "chrF"])
def test_means_and_tau_by_hand(judged, study, metric: str) -> None:
    _, block = block_of(judged(study), metric)
    assert block.systems == (("A", "B", "C", "D", "E") if metric == "human" else ("B", "C", "D", "E"))
    for place, condition in enumerate(block.conditions):
        expected = list(system_means(study, metric, condition).values())
        np.testing.assert_allclose(block.means()[place], expected, rtol=1e-12)
    found = {(row.first, row.second): row for row in taus_between(block, TAU_MIN, resamples=20)}
    assert set(found) == {("DOC", "MIX"), ("DOC", "SEG"), ("MIX", "SEG")}
    for (first, second), row in found.items():
        a, b = (list(system_means(study, metric, name).values()) for name in (first, second))
        assert row.tau is not None
        assert row.tau.tau == pytest.approx(kendalltau(a, b).statistic, abs=1e-12)
        assert (row.units, row.documents, row.state) == (23, 8, "ok")
        assert row.reaches == (row.tau.net * 3 >= 2 * row.tau.pairs)


def test_bootstrap_is_the_loop_with_the_same_draws(judged, study) -> None:
    """Documents drawn again and again, their segments put side by side, scipy's tau of the means."""
    resamples, seed = 60, 4
    _, block = block_of(judged(study))
    names = sorted({row["doc"] for row in study})
    counts = resample_counts(len(names), resamples, np.random.default_rng(seed))
    drawn = resampled_means(document_sums(block), resamples, seed)
    taus = []
    for number, weights in enumerate(counts):
        docs = [name for name, weight in zip(names, weights, strict=True) for _ in range(weight)]
        means = [list(system_means(study, "human", condition, docs).values()) for condition in ("DOC", "MIX")]
        np.testing.assert_allclose(drawn[number, 0], means[0], rtol=1e-12)
        taus.append(kendalltau(*np.round(means, 9)).statistic)
    row = taus_between(block, TAU_MIN, resamples=resamples, seed=seed)[0]
    assert row.resampled is not None
    assert row.resampled.mean == pytest.approx(np.mean(taus), abs=1e-12)
    assert row.resampled.interval == pytest.approx(np.quantile(taus, [0.025, 0.975]), abs=1e-12)
    assert row.resampled.below == np.mean(np.array(taus) < 0.6665 - 1e-12)
    assert (row.resampled.undefined, row.resampled.resamples) == (0, resamples)


def test_halves_of_documents_by_hand(judged, study) -> None:
    _, block = block_of(judged(study))
    first, second = split_means(document_sums(block), 30, 2)
    sums = document_sums(block)
    # Both halves together are all documents: their means, weighted by units, are the means of everything.
    assert first.shape == second.shape == (30, 3, 5)
    half = np.zeros((30, 8))
    half[:, :4] = 1.0
    half = np.random.default_rng(2).permuted(half, axis=1)
    assert (half.sum(axis=1) == 4).all()
    for split in range(30):
        own = sums.sums[half[split] == 1].sum(axis=0) / sums.units[half[split] == 1].sum()
        np.testing.assert_allclose(first[split], own)
        weight = sums.units[half[split] == 1].sum() / sums.units.sum()
        np.testing.assert_allclose(weight * first[split] + (1 - weight) * second[split], block.means())


def test_halves_of_judgements(judged, study) -> None:
    table, block = block_of(judged(study))
    assert twice_judged(table, block, "DOC").all()
    first, second = split_judgements(table, block, "DOC", 200, 0)
    # Two judgements a unit: the halves are one each, and their mean is the unit's.
    np.testing.assert_allclose((first + second) / 2, np.tile(block.means()[0], (200, 1)))
    assert len({tuple(row) for row in first}) > 100
    # Either judgement is as likely to be in the first half.
    spread = first.std(axis=0) / math.sqrt(200)
    assert (np.abs(first.mean(axis=0) - block.means()[0]) < 4 * spread).all()


def test_units_judged_once_are_in_no_half(judged, study) -> None:
    once = [row for row in study if not (row["doc"] == "d0" and row["annotator"] == "ann2")]
    table, block = block_of(judged(once))
    assert twice_judged(table, block, "MIX").sum() == 23 - 2
    rows = reliabilities(table, block, TAU_MIN, resamples=20)
    assert [row.judged_twice for row in rows] == [21, 21, 21]
    table, block = block_of(judged(study), "chrF")
    assert all(row.judges is None and row.halves is not None for row in reliabilities(table, block, TAU_MIN))


def test_three_judgements_split_into_one_and_two(judged) -> None:
    rows = [
        {"condition": "DOC", "system": s, "doc": "d", "segment": 1, "annotator": a, "score": v}
        for s, values in (("A", (0, 3, 9)), ("B", (1, 1, 1)))
        for a, v in zip("xyz", values, strict=True)
    ]
    table, block = block_of(judged(rows))
    first, second = split_judgements(table, block, "DOC", 300, 1)
    pairs = {(float(a), float(b)) for a, b in zip(first[:, 0], second[:, 0], strict=True)}
    assert pairs == {(0.0, 6.0), (3.0, 4.5), (9.0, 1.5)}
    assert (first[:, 1] == 1).all() and (second[:, 1] == 1).all()


def test_a_condition_agrees_with_itself_when_documents_do(judged) -> None:
    """Systems in the same order in every document: every tau is 1."""
    rows = [
        {"condition": c, "system": s, "doc": f"d{d}", "segment": 1, "score": place + 10 * d}
        for d in range(6)
        for place, s in enumerate("ABC")
        for c in ("DOC", "MIX")
    ]
    result = rank_conditions(judged(rows), SMALL)
    (between,) = result.taus
    assert between.tau is not None and between.tau.tau == 1.0 and between.adjacent == 3
    assert between.resampled is not None
    assert (between.resampled.mean, between.resampled.interval, between.resampled.below) == (
        1.0,
        (1.0, 1.0),
        0.0,
    )
    for row in result.reliability:
        assert row.halves is not None and row.halves.mean == 1.0
        assert row.against_all is not None and row.against_all.mean == 1.0


def test_resamples_in_parts_cover_all(judged, study, monkeypatch) -> None:
    _, block = block_of(judged(study))
    monkeypatch.setattr(documents, "_CELLS_AT_ONCE", 8 * 7)
    assert resampled_means(document_sums(block), 20, 0).shape == (20, 3, 5)
    assert split_means(document_sums(block), 20, 0)[1].shape == (20, 3, 5)


def test_neither_the_order_of_rows_nor_names_nor_the_unit_matter(judged, study) -> None:
    plain = as_document(rank_conditions(judged(study), SMALL))
    shuffled = list(study)
    random.Random(1).shuffle(shuffled)
    again = as_document(rank_conditions(judged(shuffled), SMALL))
    assert json.dumps(plain) == json.dumps(again)
    renamed = [{**row, "system": f"x{row['system']}", "score": 4 * row["score"] - 8} for row in study]
    scaled = as_document(rank_conditions(judged(renamed), SMALL))
    for name in ("taus", "reliability", "agreement"):
        assert scaled[name] == plain[name]
    for one, other in zip(plain["mechanism"], scaled["mechanism"], strict=True):
        assert other["r2"] == pytest.approx(one["r2"], abs=1e-9)


def test_a_unit_that_one_system_lacks_is_left_out_for_all(judged, study) -> None:
    holes = [
        {**row, "score": None}
        if (row["metric"], row["condition"], row["system"], row["doc"], row["segment"])
        == ("human", "MIX", "C", "d3", 0)
        else row
        for row in study
    ]
    result = rank_conditions(judged(holes), SMALL)
    human = result.metrics[0]
    assert (human.units, human.incomplete, human.missing) == (22, 1, 2)
    without = [
        row for row in study if not (row["doc"] == "d3" and row["segment"] == 0 and row["metric"] == "human")
    ]
    other = rank_conditions(judged(without), SMALL)
    assert result.taus[0] == other.taus[0]
    assert result.metrics[0].rankings == other.metrics[0].rankings
    # One judgement of two missing: the other speaks for the unit.
    first = study[0]
    one = [{**row, "score": None} if row is first else row for row in study]
    assert rank_conditions(judged(one), SMALL).metrics[0].units == 23


def test_a_system_without_a_condition_is_named(judged, study) -> None:
    rows = [row for row in study if not (row["system"] == "B" and row["condition"] == "SEG")]
    human = rank_conditions(judged(rows), SMALL).metrics[0]
    assert (human.systems, human.left_out, human.units) == (("A", "C", "D", "E"), ("B",), 23)


def test_domains(judged, study) -> None:
    result = rank_conditions(judged(study), SMALL)
    news = [row for row in study if row["domain"] == "news"]
    alone = rank_conditions(judged(news), SMALL)
    by_domain = [row for row in result.taus if row.domain == "news" and row.metric == "human"]
    overall = [row for row in alone.taus if row.domain is None and row.metric == "human"]
    # One domain in the table: nothing to tell apart.
    assert not any(row.domain for row in alone.taus)
    for one, other in zip(by_domain, overall, strict=True):
        assert (one.tau, one.resampled, one.units) == (other.tau, other.resampled, other.units)


def table(scores: dict[str, dict[str, list[float | None]]], docs: list[str] | None = None):
    """Rows of scores by condition and system; one document a score unless ``docs`` names them."""
    return [
        {
            "condition": condition,
            "system": system,
            "doc": docs[place] if docs else f"d{place}",
            "segment": place,
            "score": value,
        }
        for condition, systems in scores.items()
        for system, values in systems.items()
        for place, value in enumerate(values)
    ]


@pytest.mark.parametrize(
    ("rows", "state", "tau"),
    [
        (table({"DOC": {"A": [1, 2], "B": [2, 3]}, "MIX": {"A": [1, 1], "B": [3, 3]}}), "ok", 1.0),
        (table({"DOC": {"A": [1, 2]}, "MIX": {"A": [1, 1]}}), "one system", None),
        (table({"DOC": {"A": [5, 5], "B": [5, 5]}, "MIX": {"A": [1, 1], "B": [3, 3]}}), "constant", None),
        (
            table({"DOC": {"A": [1, None], "B": [None, 3]}, "MIX": {"A": [1, 1], "B": [3, 3]}}),
            "no common units",
            None,
        ),
        (
            table({"DOC": {"A": [1, 2], "B": [2, 3]}, "MIX": {"A": [1, 1], "B": [3, 3]}}, ["d", "d"]),
            "one document",
            1.0,
        ),
        (
            table({"DOC": {"A": [None, None], "B": [2, 3]}, "MIX": {"A": [1, 1], "B": [3, 3]}}),
            "one system",
            None,
        ),
    ],
)
def test_degenerate_tables_have_a_named_state(judged, rows, state: str, tau: float | None) -> None:
    result = rank_conditions(judged(rows), SMALL)
    (found,) = result.taus
    assert found.state == state
    assert (found.tau.tau if found.tau else None) == tau
    if state not in ("ok",):
        assert found.resampled is None
    assert_printable(result)


@pytest.mark.parametrize(
    "rows",
    [
        table({"DOC": {"A": [1, 2], "B": [2, 3]}}),
        table({"DOC": {"A": [None, None]}, "MIX": {"A": [None, None]}}),
        [{"system": "A", "doc": "d", "segment": 1, "score": 3}],
    ],
)
def test_one_condition_or_no_score_at_all(judged, rows) -> None:
    assert_printable(rank_conditions(judged(rows), SMALL))


def assert_printable(result) -> None:
    """Every format takes it, and there is no nan in any."""
    from analysis.printing.files import as_terminal_text
    from analysis.printing.latex import to_latex
    from analysis.printing.render import to_csv, to_markdown

    report = as_report(result)
    texts = [to_markdown(report), to_latex(report), as_terminal_text(report, more=notes(result))]
    texts.append(to_csv(COLUMNS, as_records(result)))
    texts.append(json.dumps(as_document(result), allow_nan=False))
    assert not any("nan" in text.lower() for text in texts)


def test_a_metric_that_cannot_see_the_condition_is_marked(judged, study) -> None:
    """DOC and MIX hold the same translations: without context a metric gives them the same scores."""
    seen = {
        (row["metric"], row["system"], row["doc"], row["segment"]): row["score"]
        for row in study
        if row["condition"] == "DOC"
    }
    rows = [
        {**row, "score": seen[row["metric"], row["system"], row["doc"], row["segment"]]}
        if (row["metric"], row["condition"]) == ("chrF", "MIX")
        else row
        for row in study
    ]
    result = rank_conditions(judged(rows), SMALL)
    blind = {(row.metric, row.first, row.second) for row in result.taus if row.same_scores}
    assert blind == {("chrF", "DOC", "MIX")}
    report = as_report(result)
    assert "∅" in dict(report.legend)
    taus = next(sheet for sheet in report.sheets if sheet.label == "taus")
    assert [row[2].mark for row in taus.rows if row[2].tone == "neutral"] == ["∅"]


def test_a_constant_resample_is_counted_and_left_out(judged) -> None:
    """A is better than B in one document of two: where that one is not drawn, nothing is ranked."""
    rows = table({"DOC": {"A": [5, 9], "B": [5, 3]}, "MIX": {"A": [5, 9], "B": [5, 3]}})
    (found,) = rank_conditions(judged(rows), ConditionOptions(resamples=400)).taus
    assert found.resampled is not None and found.state == "ok"
    assert found.resampled.undefined == pytest.approx(100, abs=35)
    assert (found.resampled.mean, found.resampled.below) == (1.0, 0.0)


def test_gold_must_be_in_the_table(judged, study) -> None:
    judgements = judged(study)
    with pytest.raises(InputError, match="no scores of 'mqm'") as caught:
        rank_conditions(judgements, ConditionOptions(gold="mqm"))
    assert caught.value.hint == "one of: chrF, human"
    metrics = [row for row in study if row["metric"] == "chrF"]
    result = rank_conditions(judged(metrics), SMALL)
    assert result.gold is None and not result.agreement
    assert "No human scores" in " ".join(notes(result))


def test_the_report_says_what_its_intervals_are(judged, study) -> None:
    result = rank_conditions(judged(study), SMALL)
    sheets = {sheet.label: sheet for sheet in as_report(result).sheets}
    assert list(sheets) == [
        "ranks-1",
        "taus",
        "taus-domains",
        "reliability",
        "agreement",
        "mechanism",
        "ranks-2",
    ]
    for label in ("taus", "taus-domains", "reliability", "agreement", "mechanism"):
        assert "test nothing" in " ".join(sheets[label].caption)
    assert "C − D at least 4 of 6 or C − D at least 8 of 10 is not below" in " ".join(sheets["taus"].caption)
    assert sheets["ranks-1"].title == "Ranks by human"


def test_command(command, tmp_path, judged, study) -> None:
    path = judged(study).path
    done = command("analysis", "ranking", "--table", path, "--resamples", "200", "--json")
    document = json.loads(done.stdout)
    assert document["configuration"]["tau_min"] == "0.667"
    expected = rank_conditions(judged(study), ConditionOptions(resamples=200))
    assert document["taus"] == json.loads(json.dumps(as_document(expected)))["taus"]
    out = tmp_path / "out"
    done = command(
        *(
            "analysis",
            "ranking",
            "--table",
            path,
            "--test",
            "permutation",
            "--by",
            "segment",
            "--permutations",
            "99",
        ),
        *("--resamples", "20", "--tau-min", "2/3", "--out", out),
    )
    assert "Ranks by human" in done.stdout and "99 sign flips of whole segments" in done.stdout
    assert sorted(file.name for file in out.iterdir()) == [
        f"ranking.{end}" for end in ("csv", "json", "md", "tex")
    ]
    assert (out / "ranking.csv").read_text().splitlines()[0] == ",".join(COLUMNS)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ((), "nothing to rank"),
        (("--table", "TABLE", "--mtme", "."), "one of --mtme and --table, not both"),
        (("--table", "TABLE", "--lang-pair", "en-de"), "--lang-pair needs --mtme"),
        (("--table", "TABLE", "--statistic", "soft-accuracy"), "--statistic needs --mtme"),
        (("--mtme", ".", "--tau-min", "0.5"), "--tau-min needs --table"),
        (("--mtme", "."), "--mtme needs --lang-pair and --gold"),
        (("--table", "TABLE", "--tau-min", "high"), "threshold of tau is 'high'"),
        (("--table", "TABLE", "--resamples", "1"), "--resamples is 1"),
        (("--table", "TABLE", "--test", "t"), "--test is 't'"),
        (("--table", "TABLE", "--test", "wilcoxon", "--zero-method", "drop"), "--zero-method is 'drop'"),
        (("--table", "TABLE", "--test", "wilcoxon", "--by", "document"), "--by needs --test permutation"),
        (
            ("--table", "TABLE", "--test", "permutation", "--zero-method", "pratt"),
            "--zero-method needs --test wilcoxon",
        ),
        (("--table", "TABLE", "--gold", "mqm"), "no scores of 'mqm'"),
        (("--table", "TABLE", "--alpha", "0.7"), "--alpha is 0.7"),
        (("--table", "nowhere.csv"), "no such file"),
    ],
)
def test_wrong_use(tmp_path, judged, study, options, problem: str) -> None:
    """In this process: fifteen more would take long to start."""
    from typer.testing import CliRunner

    from analysis.cli import app

    path = judged(study).path
    out = tmp_path / "out"
    given = [str(path) if option == "TABLE" else option for option in options]
    done = CliRunner().invoke(app, ["ranking", *given, "--out", str(out)])
    assert isinstance(done.exception, InputError)
    assert problem in str(done.exception)
    assert not out.exists()


def test_wrong_use_ends_with_code_2(command, tmp_path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("condition,system,doc,segment,score\nDOC,A,d,1,5\nDOC,A,d,1,6\n")
    done = command("analysis", "ranking", "--table", path, code=2)
    assert f"{path}:3: a second judgement of human, DOC, A, d, 1" in done.stderr
