"""The runner: what is scored, what is not, and that the table is the same however it came about."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
import sacrebleu

from challenge_sets import BLIND, SCORE_COLUMNS, ChallengeSet, InputError, MissingExtraError, Score, Turn
from metrics import METRICS, Answer, Metric, Request, Settings, read_about, read_scores
from metrics import lexical as lexical_module
from metrics.base import MetricAbout
from metrics.cells import Cells
from metrics.runner import plan_set, score_set
from metrics.store import STORE, Store
from metrics.tables import ABOUT, SCORES

Make = Callable[..., ChallengeSet]
ALL = ["bleu", "chrf", "chrf++", "ter", "length", "random", "source-copy"]


def table(out: Path) -> dict[tuple[str, str, str], Score]:
    return {(score.metric, score.pair, str(score.side)): score for score in read_scores(out)}


def files(out: Path) -> dict[str, bytes]:
    return {name: (out / name).read_bytes() for name in (SCORES, ABOUT)}


def test_table_in_the_order_of_the_set_with_sacrebleus_scores(small_set: Make, tmp_path: Path) -> None:
    challenge_set = small_set(tmp_path / "set")
    results = score_set(challenge_set, ALL, tmp_path / "out")
    scores = list(read_scores(tmp_path / "out"))
    pairs = list(challenge_set.pairs())
    assert [(score.metric, score.pair, score.side) for score in scores] == [
        (name, pair.pair, side) for name in ALL for pair in pairs for side in ("original", "perturbed")
    ]
    texts = {(pair.pair, side): getattr(pair, side) for pair in pairs for side in ("original", "perturbed")}
    reference = ["The cat sat on the mat."]
    for score in scores:
        text = texts[score.pair, score.side]
        assert (score.status, score.unit, score.condition) == ("ok", "segment", "")
        assert (score.doc, score.system) == (f"doc-{score.item}", "alder")
        if score.metric == "ter":
            assert score.raw == pytest.approx(sacrebleu.sentence_ter(text, reference).score, abs=1e-9)
            assert score.value == -score.raw
        if score.metric == "bleu":
            assert score.raw == score.value
            assert score.raw == pytest.approx(sacrebleu.sentence_bleu(text, reference).score, abs=1e-9)
    assert [result.about.name for result in results] == ALL
    assert all(result.missing == 0 and result.counts == {"ok": 24} for result in results)


def test_blind_pairs_are_named_and_others_are_not(small_set: Make, tmp_path: Path) -> None:
    challenge_set = small_set(tmp_path / "set", items=2)
    score_set(challenge_set, ALL, tmp_path / "out")
    for (metric, pair, _), score in table(tmp_path / "out").items():
        spacing = pair.endswith("-1")
        blind = spacing and metric not in ("length", "random")
        assert score.reason.startswith(BLIND) is blind, (metric, pair)
        assert score.status == "ok"
    about = read_about(tmp_path / "out")
    assert {each.about.name: each.blind_pairs for each in about.metrics} == {
        "bleu": 2,
        "chrf": 2,
        "chrf++": 2,
        "ter": 2,
        "length": 0,
        "random": 0,
        "source-copy": 2,
    }


def test_an_identical_copy_is_not_called_blind(
    write_set: Make, translation: Callable, pair: Callable, tmp_path: Path
) -> None:
    tested = translation("1", "A cat.")
    score_set(write_set(tmp_path / "set", [tested, pair(tested, "A cat.")]), ["chrf"], tmp_path / "out")
    assert [score.reason for score in read_scores(tmp_path / "out")] == ["", ""]


def test_texts_are_never_missing(
    write_set: Make, translation: Callable, pair: Callable, tmp_path: Path
) -> None:
    records = []
    for item, (hypothesis, perturbed) in enumerate([("None", "NA"), ("null", ""), ('"Hi', "nan"), ("", "x")]):
        tested = translation(str(item), hypothesis, reference="None")
        records += [tested, pair(tested, perturbed)]
    results = score_set(write_set(tmp_path / "set", records), ["bleu", "ter", "length"], tmp_path / "out")
    assert [result.counts for result in results] == [{"ok": 8}] * 3
    scores = table(tmp_path / "out")
    assert scores["bleu", "0-alder-0", "original"].value == pytest.approx(100.0)
    assert scores["ter", "1-alder-0", "perturbed"].raw == 100.0
    assert scores["length", "1-alder-0", "perturbed"].raw == 0.0


def test_names_with_commas_quotes_and_line_ends_come_back(
    write_set: Make, translation: Callable, pair: Callable, tmp_path: Path
) -> None:
    name = 'a,"b"\r\nc\u2028d'
    tested = translation(name, "A cat.", system="None", doc=name)
    score_set(write_set(tmp_path / "set", [tested, pair(tested, "A dog.")]), ["chrf"], tmp_path / "out")
    (first, _) = read_scores(tmp_path / "out")
    assert (first.item, first.doc, first.system) == (name, name, "None")


def test_order_and_duplicates_change_no_score(
    write_set: Make, translation: Callable, pair: Callable, tmp_path: Path
) -> None:
    records = []
    for item in range(30):
        reference = f"The cat {item % 5}."
        tested = translation(str(item), f"The cat {item % 7} sat, and the dog ran.", reference=reference)
        records += [tested, pair(tested, f"The cat {item % 3} sat."), pair(tested, "Dog the ran.", 1)]
    score_set(write_set(tmp_path / "one", records), ALL, tmp_path / "one-scores")
    shuffled = random.Random(1).sample(records, len(records))
    extra = [pair(each, "Dog the ran.", 2) for each in records[::3]]
    results = score_set(write_set(tmp_path / "two", [*shuffled, *extra]), ALL, tmp_path / "two-scores")
    one, two = table(tmp_path / "one-scores"), table(tmp_path / "two-scores")
    assert {key: two[key] for key in one} == one
    assert len(two) == len(one) + 2 * 30 * len(ALL)
    inputs = {
        (text, f"The cat {item % 5}.")
        for item in range(30)
        for text in (
            f"The cat {item % 7} sat, and the dog ran.",
            f"The cat {item % 3} sat.",
            "Dog the ran.",
        )
    }
    assert results[0].tally.distinct == len(inputs)
    assert results[0].tally.duplicates == 2 * 90 - len(inputs)


def test_workers_change_no_byte(small_set: Make, tmp_path: Path) -> None:
    challenge_set = small_set(tmp_path / "set", items=200)
    for workers in (1, 2):
        score_set(challenge_set, ALL, tmp_path / str(workers), workers=workers)
    assert files(tmp_path / "1") == files(tmp_path / "2")


def test_a_rerun_scores_nothing_and_changes_no_byte(small_set: Make, tmp_path: Path) -> None:
    challenge_set = small_set(tmp_path / "set")
    first = score_set(challenge_set, ["bleu", "length"], tmp_path / "out")
    before = files(tmp_path / "out")
    again = score_set(challenge_set, ["bleu", "length"], tmp_path / "out")
    assert files(tmp_path / "out") == before
    assert [result.tally.to_score for result in first] == [result.tally.distinct for result in first]
    assert [result.tally.to_score for result in again] == [0, 0]
    assert [result.tally.from_store for result in again] == [result.tally.distinct for result in again]


def test_other_metrics_join_the_table_in_any_order(small_set: Make, tmp_path: Path) -> None:
    challenge_set = small_set(tmp_path / "set")
    score_set(challenge_set, ["ter", "length", "bleu"], tmp_path / "at-once")
    for name in ("length", "ter", "bleu"):
        score_set(challenge_set, [name], tmp_path / "in-turn")
    assert files(tmp_path / "at-once") == files(tmp_path / "in-turn")


def test_only_the_metrics_of_this_set_are_in_the_table(small_set: Make, tmp_path: Path) -> None:
    score_set(small_set(tmp_path / "one"), ["bleu", "ter"], tmp_path / "out")
    larger = small_set(tmp_path / "two", items=8)
    (result,) = score_set(larger, ["bleu"], tmp_path / "out")
    assert {score.metric for score in read_scores(tmp_path / "out")} == {"bleu"}
    assert read_about(tmp_path / "out").fingerprint == larger.fingerprint
    assert result.tally.from_store > 0 and result.tally.to_score > 0


def test_a_pseudo_reference_is_another_signature(small_set: Make, tmp_path: Path) -> None:
    challenge_set = small_set(tmp_path / "set", items=3)
    score_set(challenge_set, ["chrf", "length"], tmp_path / "out")
    score_set(challenge_set, ["chrf", "length"], tmp_path / "out", pseudo_reference="birch")
    about = read_about(tmp_path / "out").metrics
    assert [(each.about.name, each.about.pseudo_reference) for each in about] == [
        ("chrf", None),
        ("chrf", "birch"),
        ("length", None),
    ]
    assert "|ref:pseudo=birch|" in about[1].about.signature
    for score in read_scores(tmp_path / "out"):
        if score.signature == about[1].about.signature and score.side == "original":
            hypothesis = f"A cat number {score.item} sat on the mat, quietly."
            stand_in = f"The cat number {score.item} was on a mat."
            expected = sacrebleu.sentence_chrf(hypothesis, [stand_in]).score
            assert score.value == pytest.approx(expected, abs=1e-9)


def test_what_cannot_be_scored_says_why(
    write_set: Make, translation: Callable, pair: Callable, tmp_path: Path
) -> None:
    alder = [translation(str(item), f"A cat {item}.", reference=None) for item in range(3)]
    birch = [translation(str(item), f"The cat {item}.", reference=None, system="birch") for item in range(2)]
    records = [*alder, *birch, *(pair(each, "A dog.") for each in (*alder, *birch))]
    challenge_set = write_set(tmp_path / "set", records)
    chrf, length = score_set(challenge_set, ["chrf", "length"], tmp_path / "out", pseudo_reference="birch")
    reasons = {
        (score.item, score.system): score.reason
        for score in read_scores(tmp_path / "out")
        if score.status == "not_applicable" and score.value is None and score.raw is None
    }
    assert reasons == {
        ("2", "alder"): "the pseudo-reference 'birch' has no translation of the item",
        ("0", "birch"): "'birch' is the pseudo-reference itself",
        ("1", "birch"): "'birch' is the pseudo-reference itself",
    }
    assert chrf.counts == {"not_applicable": 6, "ok": 4}
    assert chrf.missing == 2  # a system is not expected to be compared with itself
    assert length.counts == {"ok": 10}


def test_items_without_a_reference_are_not_applicable(
    write_set: Make, translation: Callable, pair: Callable, tmp_path: Path
) -> None:
    records = []
    for item, reference in enumerate(["A cat.", None, " "]):
        tested = translation(str(item), "A dog.", reference=reference)
        records += [tested, pair(tested, "A cow.")]
    (result,) = score_set(write_set(tmp_path / "set", records), ["chrf"], tmp_path / "out")
    assert result.counts == {"not_applicable": 4, "ok": 2}
    assert result.missing == 4
    missing = [score for score in read_scores(tmp_path / "out") if score.status != "ok"]
    reason = "the item has no reference"
    assert {(score.item, score.reason) for score in missing} == {("1", reason), ("2", reason)}


@pytest.mark.parametrize(
    ("names", "pseudo_reference", "message"),
    [
        (
            ["length", "bleu"],
            None,
            "bleu: a reference is needed.*--pseudo-reference SYSTEM, .*: birch$",
        ),
        (["bleu"], "oak", "no system 'oak'.*\n.*systems: alder, birch"),
        (["bleu"], "alder", "every pair is made from 'alder' itself"),
        (["blue"], None, "unknown metric 'blue', did you mean 'bleu'"),
        ([], None, "no metric named"),
    ],
)
def test_refused_before_anything_is_written(
    small_set: Make, tmp_path: Path, names: list[str], pseudo_reference: str | None, message: str
) -> None:
    challenge_set = small_set(tmp_path / "set", reference=None)
    with pytest.raises(InputError, match=f"(?s){message}"):
        score_set(challenge_set, names, tmp_path / "out", pseudo_reference=pseudo_reference)
    assert not (tmp_path / "out").exists()


def test_other_unusable_sets_are_refused(
    write_set: Make, translation: Callable, pair: Callable, tmp_path: Path
) -> None:
    tested = translation("1", "A cat.")
    for number, (records, message) in enumerate(
        [
            ([tested], "nothing to score"),
            ([tested, tested, pair(tested, "A dog.")], "two translations of item '1' by system 'alder'"),
            ([tested, pair(tested, "A dog."), pair(tested, "A cow.")], "two pairs are named '1-alder-0'"),
            ([tested, pair(translation("2", "x"), "y")], "item '2' of system 'alder', which"),
        ]
    ):
        challenge_set = write_set(tmp_path / str(number), records)
        with pytest.raises(InputError, match=message):
            score_set(challenge_set, ["length"], tmp_path / "out")
        assert not (tmp_path / "out" / SCORES).exists()


def test_a_missing_extra_is_refused_before_anything_is_written(
    small_set: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical_module, "extra_available", lambda extra: False)
    challenge_set = small_set(tmp_path / "set", target_lang="ja")
    with pytest.raises(MissingExtraError, match=r"mt-blindspots\[ja\]"):
        score_set(challenge_set, ["chrf", "bleu"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_each_target_language_has_its_own_metric(
    write_set: Make, translation: Callable, pair: Callable, tmp_path: Path
) -> None:
    records = []
    for item, language in enumerate(["zh_CN", "en", "ko", "en"]):
        tested = translation(str(item), "他有3个孩子", reference="他有4个孩子", target_lang=language)
        records += [tested, pair(tested, "他有5个孩子")]
    results = score_set(write_set(tmp_path / "set", records), ["bleu"], tmp_path / "out")
    tokenizers = [
        (result.about.target_lang, result.about.signature.split("tok:")[1][:2]) for result in results
    ]
    assert tokenizers == [("en", "13"), ("ko", "ko"), ("zh-Hans", "zh")]
    by_item = {score.item: score for score in read_scores(tmp_path / "out") if score.side == "original"}
    assert by_item["0"].value == pytest.approx(
        sacrebleu.sentence_bleu("他有3个孩子", ["他有4个孩子"], tokenize="zh").score
    )
    assert by_item["1"].value == 0.0
    assert "|lang:zh-Hans|" in by_item["0"].signature and "|lang:en|" in by_item["3"].signature


class Moody(Metric):
    """Fails on some texts, for as long as ``fails`` says so."""

    name = "moody"
    description = "for a test"
    fails = True
    asked: list[str]

    def parts(self) -> Mapping[str, str]:
        return {"version": "1"}

    def score(self, requests: Sequence[Request]) -> list[Answer]:
        type(self).asked += [request.hypothesis for request in requests]
        if type(self).fails and any("dog" in request.hypothesis for request in requests):
            raise RuntimeError("no dogs")
        if type(self).fails:
            return [
                Answer(None, "unparsed", "no number") if "cow" in request.hypothesis else Answer(1.0)
                for request in requests
            ]
        return [Answer(2.0) for _ in requests]


def test_failures_are_kept_apart_and_retried(
    write_set: Make, translation: Callable, pair: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(METRICS._classes, "moody", Moody)
    Moody.asked, Moody.fails = [], True
    tested = translation("1", "A cat.")
    records = [tested, pair(tested, "A dog."), pair(tested, "A cow.", 1), pair(tested, "A hen.", 2)]
    challenge_set = write_set(tmp_path / "set", records)
    (result,) = score_set(challenge_set, ["moody"], tmp_path / "out", workers=1)
    assert result.counts == {"failed": 1, "ok": 4, "unparsed": 1}
    assert result.missing == 2
    scores = {score.pair: score for score in read_scores(tmp_path / "out") if score.side == "perturbed"}
    assert (scores["1-alder-0"].status, scores["1-alder-0"].reason) == ("failed", "RuntimeError: no dogs")
    assert (scores["1-alder-1"].status, scores["1-alder-1"].reason) == ("unparsed", "no number")
    assert scores["1-alder-0"].value is None and scores["1-alder-1"].raw is None

    Moody.asked, Moody.fails = [], False
    (result,) = score_set(challenge_set, ["moody"], tmp_path / "out", workers=1)
    assert sorted(Moody.asked) == ["A cow.", "A dog."]
    assert result.counts == {"ok": 6} and result.missing == 0
    values = {score.pair: score.value for score in read_scores(tmp_path / "out") if score.side == "perturbed"}
    assert values == {"1-alder-0": 2.0, "1-alder-1": 2.0, "1-alder-2": 1.0}


class Nosy(Metric):
    """Writes down what reaches it."""

    name = "nosy"
    needs = frozenset({"context"})
    description = "for a test"
    seen: list[Request]

    def parts(self) -> Mapping[str, str]:
        return {"version": "1"}

    def score(self, requests: Sequence[Request]) -> list[Answer]:
        type(self).seen += requests
        return [Answer(float(len(request.context))) for request in requests]


def test_a_metric_gets_what_it_declares_and_nothing_else(
    write_set: Make, translation: Callable, pair: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(METRICS._classes, "nosy", Nosy)
    Nosy.seen = []
    records = []
    for item, context in enumerate([(), (Turn("self", "Hallo"),), (Turn("other", "Hallo"),)]):
        tested = translation(str(item), "A cat.", context=context)
        records += [tested, pair(tested, "A dog.")]
    score_set(write_set(tmp_path / "set", records), ["nosy"], tmp_path / "out", workers=1)
    assert len(Nosy.seen) == 6  # equal texts, but three different contexts
    assert {(each.source, each.reference, each.source_lang) for each in Nosy.seen} == {("", None, "")}
    assert {len(each.context) for each in Nosy.seen} == {0, 1}


def test_dry_run_says_what_would_be_scored_and_writes_nothing(small_set: Make, tmp_path: Path) -> None:
    challenge_set = small_set(tmp_path / "set")
    (plan,) = plan_set(challenge_set, ["chrf"], tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert (plan.tally.cells, plan.tally.to_score, plan.tally.from_store) == (24, 13, 0)
    texts = {text for pair in challenge_set.pairs() for text in (pair.original, pair.perturbed)}
    # The perturbed number of one item is the next item's original: one reference, one request.
    assert plan.tally.to_score == len(texts) and plan.tally.characters == sum(map(len, texts))
    score_set(challenge_set, ["chrf"], tmp_path / "out")
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    done, other = plan_set(challenge_set, ["chrf", "ter"], tmp_path / "out")
    assert (done.tally.to_score, done.tally.from_store) == (0, 13)
    assert other.tally.to_score == done.tally.from_store
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


def test_a_metric_finished_by_another_run_meanwhile_joins_the_table(
    small_set: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run, with other inputs, completes after this one has read the pairs."""
    challenge_set = small_set(tmp_path / "set")
    stream = Cells.stream
    meanwhile: list[str] = []

    def streamed(self: Cells, kinds: set) -> object:
        yield from stream(self, kinds)
        if not meanwhile:
            meanwhile.append("run")
            monkeypatch.setattr(Cells, "stream", stream)
            # The jobs of both runs are set up in this process: keep those of the outer one.
            with monkeypatch.context() as patch:
                patch.setattr("metrics.scoring._scorer", None)
                score_set(challenge_set, ["chrf"], tmp_path / "out", pseudo_reference="birch", workers=1)

    monkeypatch.setattr(Cells, "stream", streamed)
    score_set(challenge_set, ["length"], tmp_path / "out", workers=1)
    found = read_about(tmp_path / "out").metrics
    assert [(each.about.name, each.counts) for each in found] == [
        ("chrf", {"ok": 24}),
        ("length", {"ok": 24}),
    ]


def test_scores_json_says_what_the_scores_are(small_set: Make, tmp_path: Path) -> None:
    challenge_set = small_set(tmp_path / "set", items=2)
    score_set(challenge_set, ["ter"], tmp_path / "out")
    value = json.loads((tmp_path / "out" / ABOUT).read_text(encoding="utf-8"))
    assert (value["set"], value["fingerprint"]) == ("small", challenge_set.fingerprint)
    (metric,) = value["metrics"]
    assert metric == {
        "name": "ter",
        "signature": METRICS["ter"](Settings("en")).signature(),
        "needs": ["reference"],
        "inputs": ["hypothesis", "reference"],
        "higher_is_better": False,
        "unit": "segment",
        "sentinel": False,
        "tie_threshold": 1e-9,
        "target_lang": "en",
        "pseudo_reference": None,
        "citation": "Snover et al. 2006",
        "reach": None,
        "parameters": None,
        "counts": {"ok": 8},
        "blind_pairs": 2,
    }
    assert MetricAbout.from_json(metric) == read_about(tmp_path / "out").metrics[0].about
    header = (tmp_path / "out" / SCORES).read_text(encoding="utf-8").split("\n")[0]
    assert header == ",".join(SCORE_COLUMNS)


def test_an_altered_table_is_refused(small_set: Make, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(InputError, match=r"scores\.json is missing"):
        read_about(out)
    score_set(small_set(tmp_path / "set"), ["length"], out)
    text = (out / SCORES).read_text(encoding="utf-8")
    (out / SCORES).write_text(text.replace("ok", "fine", 1), encoding="utf-8")
    with pytest.raises(InputError, match="does not match its hash"):
        read_about(out)
    with pytest.raises(InputError, match=r"scores\.csv:2: not a score: status is 'fine'"):
        list(read_scores(out))
    (out / SCORES).write_text(text.replace(",reason", ",why", 1), encoding="utf-8")
    with pytest.raises(InputError, match="expected metric, signature"):
        list(read_scores(out))


def test_the_store_holds_no_text(small_set: Make, tmp_path: Path) -> None:
    score_set(small_set(tmp_path / "set"), ["bleu"], tmp_path / "out")
    store = Store(tmp_path / "out" / STORE)
    store.close()
    assert b"quietly" not in (tmp_path / "out" / STORE).read_bytes()
