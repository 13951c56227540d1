from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.printing.files import as_terminal_text
from analysis.ranking.benchmark import Benchmark, SystemScores, read_benchmark
from analysis.ranking.exchange import Statistic
from analysis.ranking.metrics_layout import as_report, notes
from analysis.ranking.metrics_records import as_document, as_records
from analysis.ranking.metrics_table import MetricRanking, RankingOptions, State, Unit, rank_metrics
from challenge_sets import InputError
from challenge_sets.files import dump_json

NAN = float("nan")
FEW = RankingOptions(permutations=50)


def made(**metrics: np.ndarray) -> Benchmark:
    """Four systems, 20 segments in five documents, two of the segments not rated."""
    rng = np.random.default_rng(7)
    quality = rng.normal(size=(4, 20)) + np.arange(4)[:, None] / 2
    gold = np.round(2 * quality)
    gold[:, 18:] = NAN
    given = {"good": quality + 0.2 * rng.normal(size=quality.shape), "poor": rng.normal(size=quality.shape)}
    return Benchmark(
        lang_pair="en-de",
        systems=("A", "B", "C", "D"),
        left_out={"refA": "a reference"},
        documents=tuple(f"d{place // 4}" for place in range(20)),
        gold=SystemScores("mqm", None, gold, np.nanmean(gold, axis=1), "mean of segments"),
        metrics=tuple(
            SystemScores(name, "src", values, values.mean(axis=1), "mean of segments")
            for name, values in (given | metrics).items()
        ),
    )


def records(ranking: MetricRanking) -> dict[str, dict]:
    # Strict JSON: no NaN anywhere.
    dump_json(as_document(ranking))
    return {record["metric"]: record for record in as_records(ranking)}


def test_order_and_records() -> None:
    ranking = rank_metrics(made(), replace(FEW, by=Unit.SEGMENT), source="somewhere")
    found = records(ranking)
    assert list(found) == ["good", "poor"]
    good = found["good"]
    assert (good["systems"], good["segments_rated"], good["system_pairs"], good["segment_pairs"]) == (
        4,
        18,
        6,
        108,
    )
    assert (good["system_pairwise_accuracy"], good["cluster"], good["state"]) == (1.0, 1, "ok")
    document = as_document(ranking)
    assert document["configuration"] == {
        "benchmark": "somewhere",
        "lang_pair": "en-de",
        "gold": "mqm",
        "permutations": 50,
        "seed": 0,
        "by": "segment",
        "units": 20,
        "statistic": "system-accuracy",
        "alpha": 0.05,
        "grouping": "item",
    }
    assert (document["segments"], document["documents"], document["gold"]["segments_rated"]) == (20, 5, 18)
    assert document["left_out"] == {"refA": "a reference"}
    assert [each["p"] for each in document["comparisons"]] == [ranking.comparisons[0].p]


def test_renamed_systems_and_metrics_in_another_order() -> None:
    board = made()
    order = [2, 0, 3, 1]

    def moved(scores: SystemScores) -> SystemScores:
        return replace(scores, segments=scores.segments[order], system=scores.system[order])

    renamed = replace(
        board,
        systems=("E", "F", "G", "H"),
        gold=moved(board.gold),
        metrics=tuple(moved(metric) for metric in reversed(board.metrics)),
    )
    for one, other in zip(
        as_records(rank_metrics(board, FEW)), as_records(rank_metrics(renamed, FEW)), strict=True
    ):
        assert one == pytest.approx(other, abs=1e-12)


def test_segments_in_another_order_with_their_documents() -> None:
    board = made()
    order = np.concatenate([np.arange(4) + 4 * place for place in (3, 0, 4, 1, 2)])
    options = replace(FEW, by=Unit.DOCUMENT)

    def moved(scores: SystemScores) -> SystemScores:
        return replace(scores, segments=scores.segments[:, order])

    shuffled = replace(
        board,
        documents=tuple(board.documents[place] for place in order),
        gold=moved(board.gold),
        metrics=tuple(map(moved, board.metrics)),
    )
    # Soft accuracy and clusters come from drawn permutations: only these may move.
    drawn = ("soft_pairwise_accuracy", "cluster")
    one, other = records(rank_metrics(board, options)), records(rank_metrics(shuffled, options))
    for name, record in one.items():
        for key, value in record.items():
            if key not in drawn:
                assert other[name][key] == pytest.approx(value, abs=1e-12), key
    assert rank_metrics(board, options).units == 5
    assert any("With 5 documents no permutation test" in note for note in notes(rank_metrics(board, options)))


def test_scale_of_a_metric_and_a_metric_twice() -> None:
    board = made()
    good = board.metrics[0]
    twice = replace(good, name="twice", segments=20 * good.segments - 3, system=20 * good.system - 3)
    found = records(rank_metrics(replace(board, metrics=(*board.metrics, twice)), FEW))
    units = {"metric", "threshold"}
    for key, value in found["good"].items():
        if key not in units:
            assert found["twice"][key] == pytest.approx(value, abs=1e-9), key
    assert found["twice"]["threshold"] == pytest.approx(20 * found["good"]["threshold"])


def test_states() -> None:
    unrated = np.full((4, 20), NAN)
    unrated[:, 18:] = 1.0
    board = made(constant=np.full((4, 20), 2.5), nothing=np.full((4, 20), NAN), unrated=unrated)
    for statistic in Statistic:
        ranking = rank_metrics(board, replace(FEW, statistic=statistic, permutations=20))
        found = records(ranking)
        assert found["constant"]["state"] == State.CONSTANT
        assert found["constant"]["system_pairwise_accuracy"] == 0.0
        assert found["constant"]["segment_pairwise_accuracy"] == found["constant"]["gold_tie_rate"]
        assert found["constant"]["segment_pearson"] is None
        assert found["nothing"]["state"] == State.NO_SEGMENTS
        assert found["unrated"]["state"] == State.NOT_SHARED
        for name in ("nothing", "unrated"):
            for key in ("soft_pairwise_accuracy", "segment_pairwise_accuracy", "threshold", "item_kendall"):
                assert found[name][key] is None
        assert found["nothing"]["cluster"] is None
        text = as_terminal_text(as_report(ranking), more=notes(ranking))
        assert "nan" not in text
        assert "constant-src: constant scores" in text


def test_one_system() -> None:
    board = made()

    def first(scores: SystemScores) -> SystemScores:
        return replace(scores, segments=scores.segments[:1], system=scores.system[:1])

    alone = replace(board, systems=("A",), gold=first(board.gold), metrics=tuple(map(first, board.metrics)))
    for record in records(rank_metrics(alone, FEW)).values():
        assert record["state"] == State.ONE_SYSTEM
        assert record["system_pairwise_accuracy"] is None and record["system_pairs"] == 0
        assert record["soft_pairwise_accuracy"] is None and record["cluster"] is None
        assert record["per_system_pearson"] is not None


def test_documents_must_be_known() -> None:
    with pytest.raises(InputError, match="which document"):
        rank_metrics(replace(made(), documents=None), replace(FEW, by=Unit.DOCUMENT))


@pytest.mark.data
def test_wmt23(data: Path) -> None:
    board = read_benchmark(data / "wmt23", "en-de", "mqm")
    ranking = rank_metrics(board, RankingOptions(permutations=200))
    found = records(ranking)
    assert len(found) == 16
    expected = {"GEMBA-MQM": 1.0, "COMET": 0.9697, "chrF": 0.8182, "BLEU": 0.8939}
    for name, accuracy in expected.items():
        assert found[name]["system_pairwise_accuracy"] == pytest.approx(accuracy, abs=5e-5)
        assert (found[name]["systems"], found[name]["system_pairs"]) == (12, 66)
        assert found[name]["segments_rated"] == 460
    assert found["GEMBA-MQM"]["tie_rate"] == pytest.approx(0.326, abs=5e-4)
    accuracies = [record["system_pairwise_accuracy"] for record in found.values()]
    assert accuracies == sorted(accuracies, reverse=True)
    assert (found["GEMBA-MQM"]["cluster"], found["chrF"]["cluster"]) == (
        1,
        max(r["cluster"] for r in found.values()),
    )
    # Corpus BLEU and chrF are no means of segments: the note says what the clusters went by.
    assert [row.scores.name for row in ranking.rows if row.tested_on_means] == ["BLEU", "chrF"]
    assert found["BLEU"]["tested"] == pytest.approx(57 / 66)
    for record in found.values():
        if record["metric"] not in ("BLEU", "chrF"):
            assert record["tested"] == record["system_pairwise_accuracy"]


def test_constant_human_scores_are_refused() -> None:
    board = made()
    flat = replace(board.gold, segments=np.where(np.isnan(board.gold.segments), NAN, 1.0))
    with pytest.raises(InputError, match="every human score of mqm is 1"):
        rank_metrics(replace(board, gold=flat), FEW)
