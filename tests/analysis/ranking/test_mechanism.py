"""R² of conditions on segments alone against statsmodels; agreement of metrics with people."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau, linregress

from analysis.ranking.condition_table import ConditionOptions, rank_conditions
from analysis.ranking.mechanism import explained_by_segments, human_agreement
from analysis.ranking.units import complete_block, unit_table
from analysis.statistics.rank import tau_threshold
from analysis.statistics.resampling import resample_counts

TAU_MIN = tau_threshold("0.667")


def wide(rows, metric: str) -> pd.DataFrame:
    """One row a translation, one column a condition; means over annotators."""
    frame = pd.DataFrame([row for row in rows if row["metric"] == metric])
    keys = ["system", "doc", "segment"]
    return frame.pivot_table(index=keys, columns="condition", values="score", aggfunc="mean").reset_index()


def points(frame: pd.DataFrame, level: str, condition: str) -> tuple[np.ndarray, np.ndarray]:
    frame = frame.dropna(subset=["SEG", condition])
    if level != "segment":
        keys = ["system", "doc"] if level == "document" else ["system"]
        frame = frame.groupby(keys)[["SEG", condition]].mean().reset_index()
    return frame["SEG"].to_numpy(), frame[condition].to_numpy()


@pytest.mark.parametrize("metric", ["human", "chrF"])
def test_r2_is_that_of_ordinary_least_squares(judged, study, metric: str) -> None:
    import statsmodels.api as sm

    holes = [row for place, row in enumerate(study) if place % 17]
    found = explained_by_segments(unit_table(judged(holes)), metric, resamples=20)
    assert [(row.condition, row.level) for row in found] == [
        (condition, level) for condition in ("DOC", "MIX") for level in ("segment", "document", "system")
    ]
    for row in found:
        x, y = points(wide(holes, metric), row.level, row.condition)
        fit = sm.OLS(y, sm.add_constant(x)).fit()
        assert row.r2 == pytest.approx(fit.rsquared, rel=1e-9)
        assert row.slope == pytest.approx(fit.params[1], rel=1e-9)
        assert row.r2 == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2, rel=1e-9)
        assert (row.points, row.state, row.undefined) == (x.size, "ok", 0)


@pytest.mark.parametrize("level", ["segment", "document", "system"])
def test_bootstrap_is_the_loop_with_the_same_draws(judged, study, level: str) -> None:
    resamples, seed = 40, 3
    found = explained_by_segments(unit_table(judged(study)), "human", resamples=resamples, seed=seed)
    row = next(row for row in found if (row.condition, row.level) == ("MIX", level))
    frame = wide(study, "human")
    names = sorted(frame["doc"].unique())
    r2 = []
    for weights in resample_counts(len(names), resamples, np.random.default_rng(seed)):
        parts = []
        for name, weight in zip(names, weights, strict=True):
            for copy in range(weight):
                part = frame[frame["doc"] == name].copy()
                part["doc"] = f"{name} {copy}"
                parts.append(part)
        x, y = points(pd.concat(parts), level, "MIX")
        r2.append(linregress(x, y).rvalue ** 2)
    assert row.interval == pytest.approx(np.quantile(r2, [0.025, 0.975]), rel=1e-9)


def test_a_line_explains_everything_and_constants_nothing(judged, study) -> None:
    def with_doc(value) -> list[dict[str, object]]:
        alone = {
            (row["system"], row["doc"], row["segment"], row["annotator"]): row["score"]
            for row in study
            if row["metric"] == "human" and row["condition"] == "SEG"
        }
        return [
            {**row, "score": value(alone[row["system"], row["doc"], row["segment"], row["annotator"]])}
            if row["condition"] == "DOC"
            else row
            for row in study
            if row["metric"] == "human"
        ]

    line = explained_by_segments(unit_table(judged(with_doc(lambda seg: 7 - 2 * seg))), "human", resamples=20)
    for row in line[:3]:
        assert (row.r2, row.slope) == (pytest.approx(1.0), pytest.approx(-2.0))
        assert row.interval == pytest.approx((1.0, 1.0))
    flat = explained_by_segments(unit_table(judged(with_doc(lambda seg: 0.1))), "human", resamples=20)
    assert [(row.state, row.r2, row.interval) for row in flat[:3]] == [("constant", None, None)] * 3


def test_few_points_one_document_and_no_segments_alone(judged, study) -> None:
    human = [row for row in study if row["metric"] == "human"]
    one = [row for row in human if row["doc"] == "d1"]
    states = {
        row.level: (row.state, row.interval)
        for row in explained_by_segments(unit_table(judged(one)), "human")
    }
    assert set(states.values()) == {("one document", None)}
    two = [row for row in human if row["system"] in "AB"]
    found = {row.level: row for row in explained_by_segments(unit_table(judged(two)), "human", resamples=20)}
    assert (found["system"].state, found["system"].r2) == ("too few", None)
    assert found["document"].state == "ok"
    within = [row for row in human if row["condition"] != "SEG"]
    assert explained_by_segments(unit_table(judged(within)), "human") == []


def agreement(rows, judged, **options):
    table = unit_table(judged(rows))
    blocks = [complete_block(table, name) for name in ("human", "chrF")]
    return human_agreement(*blocks, TAU_MIN, **{"resamples": 30, **options})


def test_agreement_with_people_by_hand(judged, study) -> None:
    """The metric has no score of the system A, so that four systems are compared."""
    human, chrf = (wide(study, name) for name in ("human", "chrF"))
    seed, resamples = 5, 30
    found = agreement(study, judged, seed=seed)
    assert [row.condition for row in found] == ["DOC", "MIX", "SEG"]
    names = sorted(human["doc"].unique())
    draws = resample_counts(len(names), resamples, np.random.default_rng(seed))
    for row in found:
        frames = [frame[frame["system"] != "A"] for frame in (human, chrf)]
        means = [frame.groupby("system")[row.condition].mean() for frame in frames]
        assert row.tau is not None and row.resampled is not None
        assert row.tau.tau == pytest.approx(kendalltau(*means).statistic, abs=1e-12)
        assert (row.systems, row.documents, row.units, row.gold_units, row.state) == (4, 8, 23, 23, "ok")
        taus = []
        for weights in draws:
            weight = dict(zip(names, weights, strict=True))
            means = [
                frame.assign(w=frame["doc"].map(weight))
                .groupby("system")
                .apply(
                    lambda part: round(np.average(part[row.condition], weights=part["w"]), 9)  # noqa: B023
                )
                for frame in frames
            ]
            taus.append(kendalltau(*means).statistic)
        assert row.resampled.mean == pytest.approx(np.mean(taus), abs=1e-12)


def test_a_metric_of_documents_is_compared_on_the_same_documents(judged, study) -> None:
    """A score a document under another segment name; one document that the metric lacks is left out."""
    documents = {}
    for row in study:
        if row["metric"] == "chrF" and row["doc"] != "d2":
            key = (row["condition"], row["system"], row["doc"])
            documents.setdefault(key, {**row, "segment": "whole", "metric": "d-chrF"})
    people = [row for row in study if row["metric"] == "human"]
    result = rank_conditions(judged([*people, *documents.values()]), ConditionOptions(resamples=20))
    for row in result.agreement:
        assert (row.documents, row.units, row.gold_units) == (7, 7, 23 - 4)


def test_shared_segments_alone_count_where_there_are_any(judged, study) -> None:
    rows = [
        row for row in study if not (row["metric"] == "human" and row["doc"] == "d2" and row["segment"] == 0)
    ]
    for row in agreement(rows, judged):
        assert (row.documents, row.units, row.gold_units) == (8, 22, 22)


@pytest.mark.data
def test_agreement_on_wmt23(judged, data) -> None:
    """Without ties tau is 2 × accuracy - 1, and pairwise accuracy is 1.000, 0.9697 and 0.8182 of 66 pairs.

    These are of system scores; means of the segments that people scored order the systems alike.
    """
    root = data / "wmt23"
    names = [line.split("\t")[1] for line in (root / "documents/en-de.docs").read_text().splitlines()]
    files = {"human": root / "human-scores/en-de.mqm.seg.score"}
    for metric in ("GEMBA-MQM-src", "COMET-refA", "chrF-refA"):
        files[metric] = root / "metric-scores/en-de" / f"{metric}.seg.score"
    rows = []
    for metric, path in files.items():
        seen: dict[str, int] = {}
        for line in path.read_text().splitlines():
            system, score = line.split("\t")
            place = seen.setdefault(system, 0)
            seen[system] += 1
            if system not in ("refA", "synthetic_ref"):
                key = {"metric": metric, "system": system, "doc": names[place], "segment": place}
                rows.append({**key, "score": "" if score == "None" else score})
    result = rank_conditions(judged(rows), ConditionOptions(resamples=20))
    assert (result.metrics[0].units, result.metrics[0].documents) == (460, 190)
    found = {row.metric: row for row in result.agreement}
    for metric, agreeing in (("GEMBA-MQM-src", 66), ("COMET-refA", 64), ("chrF-refA", 54)):
        tau = found[metric].tau
        assert tau is not None and (tau.concordant, tau.discordant) == (agreeing, 66 - agreeing)
    assert (found["chrF-refA"].systems, found["chrF-refA"].units) == (12, 460)


def test_states_of_agreement(judged, study) -> None:
    flat = [{**row, "score": 1} if row["metric"] == "chrF" else row for row in study]
    assert {(row.state, row.resampled) for row in agreement(flat, judged)} == {("constant", None)}
    two = [row for row in study if row["system"] in "AB"]
    assert {(row.state, row.tau) for row in agreement(two, judged)} == {("too few", None)}
    one = [row for row in study if row["doc"] == "d1"]
    assert {(row.state, row.resampled) for row in agreement(one, judged)} == {("one document", None)}
