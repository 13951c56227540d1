import itertools
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import pearsonr

from analysis.ranking.benchmark import FROM_MEAN, SystemScores
from analysis.ranking.correlations import correlate
from analysis.ranking.exchange import Statistic
from analysis.ranking.pairwise import pairwise_accuracy
from analysis.ranking.permutations import Contest, cluster_metrics
from analysis.ranking.soft import draw_flips, soft_accuracy
from analysis.ranking.ties import calibrate_ties, item_accuracy

NAN = float("nan")
ALL = list(Statistic)


def scores(name: str, segments: np.ndarray) -> SystemScores:
    known = ~np.isnan(segments)
    means = np.where(known, segments, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    return SystemScores(name, None if name == "gold" else "src", segments, means, FROM_MEAN)


def made(seed: int, systems: int = 5, segments: int = 24, holes: bool = False) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(systems, segments)) + np.linspace(0, 0.6, systems)[:, None]
    gold = np.round(3 * quality)
    if holes:
        gold[rng.random(gold.shape) < 0.3] = NAN
    return {
        "gold": gold,
        "good": (quality + 0.3 * rng.normal(size=quality.shape)).round(2),
        "poor": (quality + 3.0 * rng.normal(size=quality.shape)).round(2),
    }


def contest(
    board: dict, statistic: Statistic, *, units: np.ndarray | None = None, permutations: int = 99
) -> Contest:
    count = board["gold"].shape[1]
    units = np.arange(count) if units is None else units
    flips = draw_flips(int(units.max()) + 1, permutations, seed=1)
    thresholds = {
        f"{name}-src": calibrate_ties(board["gold"], values).threshold or 0.0
        for name, values in board.items()
        if name != "gold"
    }
    return Contest(scores("gold", board["gold"]), statistic, units, flips, thresholds)


def plain(statistic: Statistic, match: Contest, own: np.ndarray) -> Callable[[np.ndarray], float]:
    """The statistic of one array of scores, by the functions that are tested elsewhere."""
    gold = match.gold
    if statistic is Statistic.ACCURACY:
        return lambda values: pairwise_accuracy(gold.system, values.mean(axis=1)).accuracy or 0.0
    if statistic is Statistic.SOFT:
        return lambda values: soft_accuracy(gold.segments, values, match.units, match.flips).accuracy or 0.0
    if statistic is Statistic.SYSTEM_PEARSON:
        return lambda values: float(pearsonr(gold.system, values.mean(axis=1))[0])
    return lambda values: correlate(gold.segments, values).pearson or 0.0


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("documents", [False, True])
@pytest.mark.parametrize("statistic", [one for one in ALL if one is not Statistic.SEGMENT])
def test_a_plain_loop_over_exchanges(statistic: Statistic, documents: bool, holes: bool) -> None:
    board = made(3, holes=holes)
    match = contest(board, statistic, units=np.arange(24) // 4 if documents else None, permutations=40)
    first, second = ((values - values.mean()) / values.std() for values in (board["good"], board["poor"]))
    value = plain(statistic, match, first)
    observed = value(first) - value(second)
    extreme = 0
    for row in match.flips:
        kept = (row[match.units] == 1)[None, :]
        one, other = np.where(kept, first, second), np.where(kept, second, first)
        extreme += abs(value(one) - value(other)) >= abs(observed) - 1e-9
    found = match.compare(scores("good", board["good"]), scores("poor", board["poor"]))
    assert found.difference == pytest.approx(observed, abs=1e-9)
    assert found.p == (extreme + 1) / 41
    assert (found.segments, found.units, found.state) == (24, 6 if documents else 24, "ok")
    assert match.value(scores("good", board["good"])) == pytest.approx(value(board["good"]), abs=1e-9)


def test_segment_accuracy_flips_whole_segments() -> None:
    board = made(5)
    match = contest(board, Statistic.SEGMENT)
    per_segment = [
        item_accuracy(board["gold"], board[name], match.thresholds[f"{name}-src"])
        for name in ("good", "poor")
    ]
    differences = per_segment[0] - per_segment[1]
    null = np.abs(match.flips @ differences) / 24
    extreme = int((null >= abs(differences.mean()) - 1e-9).sum())
    found = match.compare(scores("good", board["good"]), scores("poor", board["poor"]))
    assert found.difference == pytest.approx(differences.mean())
    assert found.p == (extreme + 1) / 100
    calibrated = calibrate_ties(board["gold"], board["good"])
    assert match.value(scores("good", board["good"])) == pytest.approx(calibrated.accuracy)


@pytest.mark.parametrize("statistic", ALL)
def test_the_same_metric_twice_does_not_differ(statistic: Statistic) -> None:
    board = made(2)
    board["copy"] = 4 * board["good"] - 9
    match = contest(board, statistic)
    found = match.compare(scores("good", board["good"]), scores("copy", board["copy"]))
    assert found.difference == pytest.approx(0.0, abs=1e-12)
    assert found.p == 1.0


@pytest.mark.parametrize("statistic", ALL)
def test_a_better_metric_is_found_whatever_its_scale(statistic: Statistic) -> None:
    board = made(8, systems=8, segments=150)
    match = contest(board, statistic)
    poor = scores("poor", board["poor"])
    found = match.compare(scores("good", board["good"]), poor)
    assert found.difference is not None and found.difference > 0
    assert found.p is not None and 1 / 100 <= found.p < 0.05
    back = match.compare(poor, scores("good", board["good"]))
    assert (back.difference, back.p) == (pytest.approx(-found.difference), found.p)
    board["good"] = 100 * board["good"] + 7
    scaled = contest(board, statistic).compare(scores("good", board["good"]), poor)
    assert scaled.difference == pytest.approx(found.difference, abs=1e-9)
    assert scaled.p == pytest.approx(found.p, abs=0.011)


def test_segments_that_lack_a_score_are_not_exchanged() -> None:
    board = made(4)
    board["good"][2, [3, 5]] = NAN
    board["poor"][0, 5] = NAN
    found = contest(board, Statistic.ACCURACY).compare(
        scores("good", board["good"]), scores("poor", board["poor"])
    )
    assert (found.segments, found.units, found.state) == (22, 22, "ok")


@pytest.mark.parametrize("statistic", ALL)
def test_states_instead_of_numbers(statistic: Statistic) -> None:
    board = made(6)
    board["constant"], board["none"] = np.full((5, 24), 0.7), np.full((5, 24), NAN)
    match = contest(board, statistic)
    good, constant, none = (scores(name, board[name]) for name in ("good", "constant", "none"))
    nothing = match.compare(good, none)
    assert (nothing.difference, nothing.p, nothing.segments) == (None, None, 0)
    assert nothing.state == "no common segments"
    found = match.compare(good, constant)
    if statistic in (Statistic.SYSTEM_PEARSON, Statistic.SEGMENT_PEARSON):
        assert (found.difference, found.p, found.state) == (None, None, "undefined")
        assert match.value(constant) is None
    else:
        assert found.state == "ok" and found.p is not None
    clusters = cluster_metrics(match, (none, good), 0.05)
    assert clusters.ranks == {"none-src": None, "good-src": 1}
    assert clusters.comparisons == ()
    one = {name: values[:1] for name, values in board.items()}
    single = contest(one, statistic).compare(scores("good", one["good"]), scores("poor", one["poor"]))
    assert single.state == ("ok" if statistic is Statistic.SEGMENT_PEARSON else "undefined")


def test_nothing_rated() -> None:
    board = made(6)
    board["gold"] = np.full((5, 24), NAN)
    for statistic in (Statistic.SOFT, Statistic.SEGMENT, Statistic.SEGMENT_PEARSON):
        found = contest(board, statistic).compare(
            scores("good", board["good"]), scores("poor", board["poor"])
        )
        assert (found.state, found.p) == ("undefined", None)


def test_clusters_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"a-src": 0.9, "b-src": 0.8, "c-src": 0.8, "d-src": 0.5, "e-src": None, "f-src": 0.4}
    # c is worse than a and takes b, which it ties with, along; f is worse than c.
    differ = {("a-src", "c-src"), ("c-src", "f-src")}
    board = made(1)
    match = contest(board, Statistic.ACCURACY)
    compare = Contest.compare

    def fixed(self: Contest, first: SystemScores, second: SystemScores):
        found = compare(self, scores("good", board["good"]), scores("poor", board["poor"]))
        p = 0.049 if (first.label, second.label) in differ else 0.05
        return type(found)(first.label, second.label, 0.1, p, 24, 24, "ok")

    monkeypatch.setattr(Contest, "value", lambda self, metric: values[metric.label])
    monkeypatch.setattr(Contest, "compare", fixed)
    metrics = tuple(scores(label[0], board["good"]) for label in reversed(values))
    found = cluster_metrics(match, metrics, 0.05)
    assert found.ranks == {"a-src": 1, "b-src": 2, "c-src": 2, "d-src": 2, "e-src": None, "f-src": 3}
    assert [(each.first[0], each.second[0]) for each in found.comparisons] == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
        ("b", "d"),
        ("c", "d"),
        ("b", "f"),
        ("c", "f"),
        ("d", "f"),
    ]


def test_false_positives_with_document_effects() -> None:
    """Two equally good metrics, wrong about whole documents: exchanging documents keeps the level."""
    rng = np.random.default_rng(11)
    documents = np.arange(60) // 5
    flips = {"segment": draw_flips(60, 99, seed=1), "document": draw_flips(12, 99, seed=1)}
    hits = dict.fromkeys(flips, 0)
    for _ in range(200):
        quality = rng.normal(size=(6, 60))
        metrics = [
            quality + rng.normal(size=(1, 12))[:, documents] + 0.6 * rng.normal(size=(6, 12))[:, documents]
            for _ in range(2)
        ]
        for name, units in (("segment", np.arange(60)), ("document", documents)):
            match = Contest(scores("gold", quality), Statistic.SEGMENT_PEARSON, units, flips[name], {})
            p = match.compare(scores("a", metrics[0]), scores("b", metrics[1])).p
            hits[name] += p is not None and p <= 0.05
    assert hits["document"] <= 17  # 99.5 % point of a binomial of 200 at 5 %: 17
    assert hits["segment"] > 2 * hits["document"]


def test_every_exchange_is_counted_once() -> None:
    """With all arrangements of four segments the p-value is the exact share of them, plus one."""
    board = made(9, segments=4)
    units = np.arange(4)
    flips = np.array(list(itertools.product((1, -1), repeat=4)), dtype=np.int8)
    match = Contest(scores("gold", board["gold"]), Statistic.SEGMENT_PEARSON, units, flips, {})
    found = match.compare(scores("good", board["good"]), scores("poor", board["poor"]))
    assert found.p is not None and found.p >= 3 / 17  # as observed, and everything exchanged
